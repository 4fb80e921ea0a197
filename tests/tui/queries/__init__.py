"""Tests of the query screen and its parts."""
