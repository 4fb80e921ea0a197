"""Charts of the memory: how it grew, what weighs, what is strengthening, how fast replies came."""
