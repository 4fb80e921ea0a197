"""Chats from elsewhere: one pure parser per format, from a file's JSON to the plain values of `chats`."""
