"""Questions about the graph in plain language: templates, and a model that writes Cypher."""
