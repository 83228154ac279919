"""What a field's output means: a JSON value where that is certain, text otherwise."""

import json
import math
import re

from quarterdeck.clients.taskfile.reading import ValueType
from quarterdeck.domain.json import JsonValue, depth_of, find_bad_text

MOST_NESTED = 64
# Beyond this, readers that hold every number as a double would show another one.
MOST_INTEGER = 2**53 - 1
# `4711e10` is an abbreviated commit and no number; what such names hold is never converted.
TEXT_WORDS = frozenset({"sha", "commit", "hash", "version", "branch"})
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
CONSTANTS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}


class Unfit(Exception):
    """The output is not of the type that the field promises."""


def value_of(text: str, name: str, value_type: ValueType | None) -> JsonValue:
    """Return what `text` says; nothing but space says null, whatever the type.

    Raises:
        Unfit: It is not of the type that was asked for.
    """
    text = text.strip()
    if not text:
        return None
    if value_type is None:
        return text if speaks_of_text(name) else _guessed(text)
    if value_type == "string":
        return text
    return _typed(text, value_type)


def speaks_of_text(name: str) -> bool:
    """Say whether one of the words in a name stands for something that only looks like a number."""
    return any(word.lower() in TEXT_WORDS for word in WORD.findall(name))


def _guessed(text: str) -> JsonValue:
    if text in CONSTANTS:
        return CONSTANTS[text]
    if INTEGER.fullmatch(text):
        return _integer(text, otherwise=text)
    if text[0] not in "{[":
        return text
    try:
        return _parsed(text)
    except Unfit:
        return text


def _integer(text: str, otherwise: JsonValue) -> JsonValue:
    number = int(text)
    return number if abs(number) <= MOST_INTEGER else otherwise


def _typed(text: str, value_type: ValueType) -> JsonValue:
    value: JsonValue = None
    if value_type == "json":
        return _parsed(text)
    if value_type == "integer" and INTEGER.fullmatch(text):
        value = _integer(text, otherwise=None)
    elif value_type == "number" and NUMBER.fullmatch(text):
        value = _parsed(text)
    elif value_type == "boolean" and text in {"true", "false"}:
        value = CONSTANTS[text]
    if value is None:
        raise Unfit(f"The output is not of type {value_type}")
    return value


def _parsed(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise Unfit("The output is not of type json") from error
    if depth_of(value, MOST_NESTED) > MOST_NESTED or find_bad_text(value):
        raise Unfit("The output is JSON that cannot be passed on")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
