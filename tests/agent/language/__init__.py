"""Tests of how sentences and clauses are read."""
