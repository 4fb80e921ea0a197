"""The memory: event log, graph projection, and the readings of both."""
