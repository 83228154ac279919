"""What an operation does to the world; read-only mode and tool annotations follow from it."""

from enum import StrEnum


class Effect(StrEnum):
    """READ changes nothing, WRITE adds or replaces, DESTROY removes."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"
