"""Small mistakes that are put into clew on purpose, to know how many of them the tests would catch."""
