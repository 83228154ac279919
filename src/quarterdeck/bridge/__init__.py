"""`quarterdeck mcp`: joins a client's stdin and stdout to the daemon, and knows no tools.

It forwards lines as they are. Neither the MCP SDK nor FastMCP is imported: either takes longer
than everything else that happens before the first answer.
"""
