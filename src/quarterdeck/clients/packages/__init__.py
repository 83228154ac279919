"""Programs that fetch packages: npm for those of Node, pip or uv for those of Python."""
