"""Stories with characters: the cards they come on, and how what is written in a story is read."""
