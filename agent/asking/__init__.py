"""Questions about the graph in plain language: ready queries, and a model that writes Cypher."""
