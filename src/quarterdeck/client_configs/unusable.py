"""Why the text of a configuration file cannot be edited; the command adds the file's name."""


class Unusable(ValueError):
    """The message goes on after the file's name: 'is broken at line 3, column 7: ...'."""

    @classmethod
    def broken(cls, text: str, at: int, reason: str) -> "Unusable":
        """Name the place as editors count it, from one."""
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        return cls(f"is broken at line {line}, column {column}: {reason}")
