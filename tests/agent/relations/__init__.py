"""Relationships found in what people say."""
