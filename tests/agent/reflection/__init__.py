"""Tests of what reflection does with what was said."""
