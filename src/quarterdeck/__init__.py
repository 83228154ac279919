"""Quarterdeck: one MCP server from which to command a fleet of coding agents."""

__version__ = "0.1.0"
