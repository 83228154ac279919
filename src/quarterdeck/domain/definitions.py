"""What projects and roles share: models that a user's file or command fills in.

A value that does not fit is refused with everything that is wrong, each with its place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic.fields import FieldInfo

from quarterdeck.errors import InvalidInput, closest_name

NAME_LENGTH = 64
TEXT_LENGTH = 1000
BUILT_IN = "quarterdeck"

# Words of letters, digits and a few signs, with single blanks between them.
_NAME = re.compile(r"[^\W_](?:[\w.&+-]| (?=\S))*")
# How the library begins what it says of a value.
_SHOULD = re.compile(r"^(?:Input|String|Tuple|Value) should ")


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


def no_nul(text: str) -> str:
    """Refuse what neither a program nor a database can be given."""
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    return text


Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LENGTH),
    AfterValidator(_sensible_name),
]
Line = Annotated[str, StringConstraints(max_length=TEXT_LENGTH), AfterValidator(_one_line)]
Text = Annotated[str, AfterValidator(no_nul)]


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


D = TypeVar("D", bound=Defined)


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
        elif wrong["type"] in {"model_type", "mapping_type", "dict_type"}:
            yield Flaw(place, "must be a table")
        else:
            text = wrong["msg"].removeprefix("Value error, ")
            yield Flaw(place, _SHOULD.sub("must ", text))


def defined(model: type[D], fields: Mapping[str, object], *, name: str, with_id: str) -> D:
    """Return what a command defines.

    Raises:
        InvalidInput: It names everything that is wrong.
    """
    identity = {"id": with_id, "name": name, "seeded_by": None}
    try:
        return model.model_validate({**fields, **identity})
    except ValidationError as error:
        flaws = [(".".join(place) or name, text) for place, text in flaws_of(error, model)]
    # Not chained: the library's error holds the values, and some are secret.
    others = "; ".join(f"{field!r} {problem}" for field, problem in flaws[1:])
    raise InvalidInput.fields(flaws, hint=f"also change this: {others}" if others else None)


class Changes(NamedTuple, Generic[D]):
    """What has to be put and removed so that the stored definitions are as a file has them."""

    put: list[D]
    removed: list[D]


def seed(
    model: type[D],
    wanted: Mapping[str, Definition],
    stored: Sequence[D],
    *,
    node_id: str,
    new_id: Callable[[], str],
) -> Changes[D]:
    """Compare a node's file with what is stored; what commands or other nodes made stays.

    The file wins over whatever has the same name, which keeps its id.
    """
    known = {same_name(each.name): each for each in stored}
    put: list[D] = []
    for name, definition in wanted.items():
        old = known.get(same_name(name))
        identity = {"id": old.id if old else new_id(), "name": name, "seeded_by": node_id}
        new = model.model_validate({**definition.model_dump(), **identity})
        if new != old:
            put.append(new)
    names = {same_name(name) for name in wanted}
    gone = [each for each in stored if each.seeded_by == node_id]
    return Changes(put, [each for each in gone if same_name(each.name) not in names])


def _unknown(place: tuple[str, ...], model: type[BaseModel]) -> str:
    closest = closest_name(place[-1], _keys_at(place[:-1], model))
    return f"is not a setting (did you mean {closest!r}?)" if closest else "is not a setting"


def _keys_at(place: tuple[str, ...], model: type[BaseModel]) -> tuple[str, ...]:
    within: object = model
    for name in place:
        # In a mapping, users choose the names; each stands for the same kind of value.
        fields = _fields_of(within)
        within = fields[name].annotation if fields else get_args(within)[-1]
    return tuple(field.alias or name for name, field in _fields_of(within).items())


def _fields_of(within: object) -> Mapping[str, FieldInfo]:
    if isinstance(within, type) and issubclass(within, BaseModel):
        return within.model_fields
    return {}
