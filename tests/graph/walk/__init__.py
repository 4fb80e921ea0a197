"""Tests of walks through the graph."""
