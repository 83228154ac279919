"""Data access: rows and remote answers on one side, the domain on the other."""
