"""The service behind its socket, and clients of it."""
