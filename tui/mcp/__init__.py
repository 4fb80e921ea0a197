"""`clew mcp`: the memory for other programs, over the Model Context Protocol."""
