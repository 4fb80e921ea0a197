"""Tests of agent/asking."""
