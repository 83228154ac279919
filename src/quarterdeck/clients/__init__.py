"""Speakers of protocols and programs: each knows its wire, and nothing of our domain."""
