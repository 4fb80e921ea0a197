"""Tests of the graph in Kuzu."""
