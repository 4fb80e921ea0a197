"""Documents from the disk: which files there are, what they say, and the pieces they are kept in."""
