"""Tests of how people, places and things stand to each other."""
