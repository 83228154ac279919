"""What projects and roles share: models that a user's file or command fills in.

A value that does not fit is refused with everything that is wrong, each with its place.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from quarterdeck.errors import closest_name

NAME_LENGTH = 64
TEXT_LENGTH = 1000
BUILT_IN = "quarterdeck"

# Words of letters, digits and a few signs, with single blanks between them.
_NAME = re.compile(r"[^\W_](?:[\w.&+-]| (?=\S))*")


def _sensible_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            "must start with a letter or digit, and have only letters, digits, single blanks"
            " and . _ - & + after it"
        )
    return name


def _one_line(text: str) -> str:
    if any(ord(character) < ord(" ") for character in text):
        raise ValueError("must be one line without control characters")
    return text


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    return text


Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LENGTH),
    AfterValidator(_sensible_name),
]
Line = Annotated[str, StringConstraints(max_length=TEXT_LENGTH), AfterValidator(_one_line)]
Text = Annotated[str, AfterValidator(_no_nul)]


class Definition(BaseModel):
    """Base of what a user defines; an input may hold a secret, so no error quotes it."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
    )


class Defined(Definition):
    """A definition that was taken in; `id` stays the same while the rest is changed.

    `seeded_by` is the node whose config file has it; without one, a command made it.
    """

    id: str
    name: Name
    seeded_by: str | None = None

    @property
    def source(self) -> Literal["file", "command", "built-in"]:
        """Say where it is defined, and so where it is changed."""
        if self.seeded_by is None:
            return "command"
        return "built-in" if self.seeded_by == BUILT_IN else "file"


class Flaw(NamedTuple):
    """What is wrong with one value; `place` leads to it from the outside in."""

    place: tuple[str, ...]
    problem: str


def same_name(name: str) -> str:
    """Return what two spellings of one name have in common."""
    return name.casefold()


def flaws_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Flaw]:
    """Say what is wrong in our own words; an unknown key comes with the closest known one."""
    for wrong in error.errors(include_url=False, include_input=False):
        place = tuple(str(part) for part in wrong["loc"] if part != "[key]")
        if wrong["type"] == "extra_forbidden":
            yield Flaw(place, _unknown(place, model))
        else:
            text = wrong["msg"].removeprefix("Value error, ")
            yield Flaw(place, text.replace("Input should ", "must ", 1))


def _unknown(place: tuple[str, ...], model: type[BaseModel]) -> str:
    closest = closest_name(place[-1], _keys_at(place[:-1], model))
    return f"is not a setting (did you mean {closest!r}?)" if closest else "is not a setting"


def _keys_at(place: tuple[str, ...], model: type[BaseModel]) -> tuple[str, ...]:
    for name in place:
        inner = model.model_fields[name].annotation
        assert isinstance(inner, type)  # only a model refuses keys
        assert issubclass(inner, BaseModel)
        model = inner
    return tuple(field.alias or name for name, field in model.model_fields.items())
