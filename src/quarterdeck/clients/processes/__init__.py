"""Agent processes: started by a small keeper process, and gone when the daemon is gone.

`keeper.py` is the daemon's side, `program.py` the process beside it. Nothing is imported here,
because that process starts with the standard library alone.
"""
