"""Tests of `clew web`."""
