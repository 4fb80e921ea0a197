"""The names of the two stores in a memory's folder."""

LOG = "log.sqlite"
GRAPH = "graph.kuzu"
RESTORING = LOG + ".restoring"  # a backup that is made ready to take the log's place
