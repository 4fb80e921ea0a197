"""The event log in SQLite: append, admission, schema, validation, the lock of a memory, and erasing."""
