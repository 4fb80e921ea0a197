"""Tests of the past, rehearsals and marks."""
