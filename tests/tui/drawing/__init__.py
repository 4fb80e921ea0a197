"""Tests of drawn graphs and plots."""
