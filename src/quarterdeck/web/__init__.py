"""The pages and the HTTP surface around the MCP endpoint."""
