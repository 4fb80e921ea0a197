"""People's own queries to the graph: what they may say, where they run, what they find."""
