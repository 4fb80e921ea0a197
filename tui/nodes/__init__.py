"""The ego view: one node of the graph with its neighbours, and the way to the words that prove it."""
