"""The memory as files: backups and their restoring, exports and what takes them in."""
