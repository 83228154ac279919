"""Other programs' configuration files: where MCP clients keep them, and how an entry is put in."""
