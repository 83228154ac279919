"""Reading what stands after a directive's name."""


class BadArguments(Exception):
    """A directive cannot be carried out with what stands after its name."""


def words(argument: str, count: int) -> list[str]:
    """Split into words; the last takes what is left."""
    found = argument.split(None, count - 1)
    if len(found) != count:
        raise BadArguments(f"expected {count} words, got {len(found)}")
    return found


def number(word: str) -> float:
    """Return a number that is not negative."""
    try:
        value = float(word)
    except ValueError as error:
        raise BadArguments(f"{word!r} is no number") from error
    if not 0 <= value < float("inf"):
        raise BadArguments(f"{word!r} is out of range")
    return value


def text(argument: str) -> str:
    r"""Return text in which `\n` stands for a new line: a directive is one line."""
    return argument.replace("\\n", "\n")
