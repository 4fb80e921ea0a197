"""The MCP server: other programs ask the memory, and propose what to remember, through the official SDK."""
