"""Faults that are put into clew on purpose, to know which tests would catch them."""
