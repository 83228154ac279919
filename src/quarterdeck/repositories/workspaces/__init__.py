"""The parts of a workspace: planned, made, shown, merged, saved and removed."""
