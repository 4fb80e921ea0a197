"""The `clew` commands, one per file."""
