"""What each event does to the graph, whatever writes it: the sinks, the tables, and what is live."""
