"""Speakers of protocols and programs; they know the wire and nothing of the domain."""
