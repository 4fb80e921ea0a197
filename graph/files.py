"""The names of the two stores in a memory's folder."""

LOG = "log.sqlite"
GRAPH = "graph.kuzu"
