"""Threads, pages and files that are read where they live: only their addresses are kept, never their words."""
