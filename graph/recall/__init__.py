"""Finding the right words again: what was said, by words, meaning, people, time and the replies around it."""
