"""Tests of what events do to tables and graph."""
