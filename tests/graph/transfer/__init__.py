"""Tests of backups, restoring, exports and merging."""
