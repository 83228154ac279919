"""The MCP surface: tools as data, thin functions, one place for errors and one for traces."""
