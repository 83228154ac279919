"""Speakers of protocols and programs: they know the wire, not our domain."""
