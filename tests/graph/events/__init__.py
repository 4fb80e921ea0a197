"""Tests of events and their codec."""
