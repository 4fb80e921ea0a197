"""References in the graph: what chats refer to, and who wrote it."""
