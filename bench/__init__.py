"""Measurements of Quarterdeck against named peers; run with `python -m bench`."""
