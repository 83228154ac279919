"""Frozen models and pure rules."""
