"""Tests of how documents are taken in."""
