"""`metadata.yaml` from disk: whose file it is, how large, and whether it says what it may say."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from quarterdeck.errors import InvalidMetadata, closest_name
from quarterdeck.overrides.model import (
    AnnotationsOverride,
    ArgumentOverride,
    Overrides,
    PromptOverride,
    ResourceOverride,
    ToolOverride,
)
from quarterdeck.overrides.nodes import Place, Read, Trouble, Unreadable, dotted, read_yaml

MOST_BYTES = 1024 * 1024

SECTIONS: Mapping[str, type[BaseModel]] = {
    "tools": ToolOverride,
    "resources": ResourceOverride,
    "resource_templates": ResourceOverride,
    "prompts": PromptOverride,
}
PARTS: Mapping[str, type[BaseModel]] = {
    "arguments": ArgumentOverride,
    "annotations": AnnotationsOverride,
}
MUST = {
    "string_type": "must be a text, in quotes if need be",
    "string_too_short": "must not be empty",
    "bool_type": "must be true or false",
    "model_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "mapping_type": "must be a mapping",
}


@dataclass(frozen=True)
class Parsed:
    """A file that is sound in itself; `lines` tells where each of its keys is."""

    overrides: Overrides = field(default_factory=Overrides)
    lines: Mapping[Place, int] = field(default_factory=dict[Place, int])
    place: str = "metadata.yaml"


def read_metadata(path: Path) -> Parsed:
    """Read and check the file as far as it goes by itself; one that is not there says nothing.

    Raises:
        InvalidMetadata: lists everything that is wrong.
    """
    text = read_text(path)
    return Parsed(place=str(path)) if text is None else parse_metadata(text, str(path))


def read_text(path: Path) -> str | None:
    """Return what the file holds, or `None` when there is none.

    Raises:
        InvalidMetadata: it is no text, or not one that we take.
    """
    content = _content(path)
    if content is None:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidMetadata(str(path), [Trouble(line, "", "it is not UTF-8 text")]) from error


def parse_metadata(text: str, place: str) -> Parsed:
    """Parse a text; `place` is what errors call it."""
    parsed, troubles = examine(text, place)
    if troubles:
        raise InvalidMetadata(place, sorted(troubles, key=_line_of))
    return parsed


def examine(text: str, place: str) -> tuple[Parsed, Sequence[Trouble]]:
    """Return what a text says and what is wrong with it; then, what it says are names alone.

    Raises:
        InvalidMetadata: there is no telling what it says.
    """
    try:
        read = read_yaml(text)
    except Unreadable as error:
        raise InvalidMetadata(place, [error.trouble]) from error
    overrides, troubles = _validated(read)
    return Parsed(overrides, read.lines, place), troubles


def _line_of(trouble: Trouble) -> int:
    return trouble.line or 0


def _content(path: Path) -> bytes | None:
    try:
        # Not blocking: somebody may have put a pipe there.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problem = f"it cannot be read: {error.strerror}"
        raise InvalidMetadata(str(path), [Trouble(None, "", problem)]) from error
    try:
        # Asked of what was opened, so that no other file can take its place in between.
        problem = _refused(os.fstat(descriptor))
        content = b"" if problem else _first_bytes(descriptor, MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if problem or len(content) > MOST_BYTES:
        raise InvalidMetadata(str(path), [Trouble(None, "", problem or _TOO_LARGE)])
    return content


def _first_bytes(descriptor: int, most: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(most)


_TOO_LARGE = f"it is larger than {MOST_BYTES // 1024} KiB"


def _refused(found: os.stat_result) -> str | None:
    """Return why a file is not read: whoever writes it speaks to the model."""
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH:
        return "every user may write to it, run 'chmod 600' on it"
    return _TOO_LARGE if found.st_size > MOST_BYTES else None


def _validated(read: Read) -> tuple[Overrides, Sequence[Trouble]]:
    data: object = {} if read.data is None else read.data
    try:
        overrides = Overrides.model_validate(data)
    except ValidationError as error:
        return _named(mapping(data)), [*read.troubles, *_troubles(error, read.lines)]
    return overrides, read.troubles


def _named(data: Mapping[str, object]) -> Overrides:
    """Return whatever a file that is not sound speaks of, so that wrong names are found too."""
    tools, prompts = mapping(data.get("tools")), mapping(data.get("prompts"))
    return Overrides(
        strict=data.get("strict") is not False,
        tools={name: ToolOverride(arguments=_arguments(tools[name])) for name in tools},
        prompts={name: PromptOverride(arguments=_arguments(prompts[name])) for name in prompts},
        resources=dict.fromkeys(mapping(data.get("resources")), ResourceOverride()),
        resource_templates=dict.fromkeys(
            mapping(data.get("resource_templates")), ResourceOverride()
        ),
    )


def _arguments(entry: object) -> Mapping[str, ArgumentOverride]:
    return dict.fromkeys(mapping(mapping(entry).get("arguments")), ArgumentOverride())


def _troubles(error: ValidationError, lines: Mapping[Place, int]) -> Iterator[Trouble]:
    for item in error.errors(include_url=False, include_input=False):
        place = tuple(str(part) for part in item["loc"])
        yield Trouble(lines.get(place), dotted(place), _worded(place, item))


def _worded(place: Place, item: Any) -> str:  # noqa: ANN401 - pydantic's own kind of mapping
    if item["type"] == "extra_forbidden":
        return f"{place[-1]!r} is unknown, {_advice(place[-1], _fields_beside(place))}"
    if place == ("version",):
        return "must be 1, the only version that this program knows"
    if item["type"] == "literal_error":
        return f"must be {item['ctx']['expected']}"
    return MUST.get(item["type"]) or str(item["msg"])


def _advice(name: str, known: Sequence[str]) -> str:
    # People shorten names, more than a closest one may differ.
    begun = (field for field in known if len(name) > 1 and field.startswith(name))
    closest = closest_name(name, known) or next(begun, None)
    return f"did you mean {closest!r}?" if closest else f"known are {', '.join(known)}"


def _fields_beside(place: Place) -> list[str]:
    """Return the names that could stand where the last one of `place` stands."""
    match place:
        case (_,):
            model: type[BaseModel] = Overrides
        case (section, _, _):
            model = SECTIONS[section]
        case (_, _, part, *_):
            model = PARTS[part]
        case _:
            return []
    return list(model.model_fields)


def mapping(value: object) -> Mapping[str, object]:
    """Return a mapping, or nothing in its place."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
