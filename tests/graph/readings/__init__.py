"""Tests of what the tables tell."""
