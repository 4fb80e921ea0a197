"""Tests of `clew mcp`."""
