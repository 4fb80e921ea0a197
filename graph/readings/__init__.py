"""Questions to the log and the graph: sessions, turns, trees, worlds, observations, documents, numbers."""
