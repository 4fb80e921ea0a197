"""Nodes of the graph for people: one with its neighbours, the way to its proof, what is drawn."""
