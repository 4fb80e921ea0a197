"""The demo: a memory of an invented person, and the pictures of it in the README. `make demo`, `make pictures`."""
