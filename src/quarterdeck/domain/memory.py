"""Memory: named JSON objects in namespaces, and the rules for their names and sizes."""

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import datetime

from quarterdeck.domain.answer import Answer
from quarterdeck.domain.json import JsonObject, depth_of, dump, find_bad_text
from quarterdeck.domain.names import checked_name
from quarterdeck.errors import InvalidInput

DEFAULT_NAMESPACE = "default"
ALL_NAMESPACES = "all"
KEY_LENGTH = 500
NAMESPACE_LENGTH = 100
PREFIX_LENGTH = 200
QUERY_LENGTH = 500
VALUE_BYTES = 1024 * 1024
# Deep enough for any real document, shallow enough for every JSON parser a client may use.
VALUE_DEPTH = 100

# At most what a 64-bit column holds.
_PLACE = re.compile(rb"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One stored value. `place` orders keys by their first store, `seq` by their latest."""

    namespace: str
    key: str
    value: JsonObject
    stored_at: datetime
    place: int
    seq: int


def checked_key(text: str) -> str:
    """Return a usable memory key."""
    return checked_name("key", text, longest=KEY_LENGTH)


def checked_namespace(text: str) -> str:
    """Return a usable namespace; an empty one is refused on every database."""
    return checked_name("namespace", text, longest=NAMESPACE_LENGTH)


def checked_value(value: JsonObject) -> str:
    """Return `value` as the JSON text to store."""
    if depth_of(value, VALUE_DEPTH) > VALUE_DEPTH:
        raise InvalidInput.field("value", f"is nested more than {VALUE_DEPTH} levels deep")
    if path := find_bad_text(value):
        raise InvalidInput.field("value", f"has text that is not valid Unicode at {path}")
    try:
        text = dump(value)
    except ValueError as error:
        problem = "has a number that JSON cannot express (not a number, or infinite)"
        raise InvalidInput.field("value", problem) from error
    # Every character takes at least one byte, so most values need no encoding to be measured.
    if len(text) * 4 > VALUE_BYTES and (size := len(text.encode())) > VALUE_BYTES:
        raise InvalidInput.field(
            "value",
            f"is {size} bytes of JSON; the limit is {VALUE_BYTES}",
            hint="store a part of it, or a reference to a file",
        )
    return text


def cursor_after(place: int) -> str:
    """Return the opaque cursor that continues a listing after `place`."""
    return base64.urlsafe_b64encode(f"m1:{place}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """Return where a listing continues; only cursors from `cursor_after` are accepted."""
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        decoded = base64.b64decode(padded, altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        decoded = b""
    version, _, place = decoded.partition(b":")
    if version != b"m1" or not _PLACE.fullmatch(place):
        raise InvalidInput.field(
            "cursor", "is not a cursor of memory_list", hint="pass nextCursor of the page before"
        )
    return int(place)


class MemoryStoreResponse(Answer):
    """The value is durable: it survives a crash that follows this answer."""

    success: bool
    key: str
    namespace: str
    message: str


class MemoryRetrieveResponse(Answer):
    """An absent key is an answer, not an error."""

    found: bool
    key: str
    namespace: str
    value: JsonObject | None = None
    stored_at: datetime | None = None
    message: str | None = None


class MemoryHit(Answer):
    """One result of a search."""

    key: str
    namespace: str
    value: JsonObject
    stored_at: datetime


class MemorySearchResponse(Answer):
    """Best match first; `namespace` is `all` when none was given."""

    query: str
    namespace: str
    count: int
    results: list[MemoryHit]


class MemoryKeyRow(Answer):
    """One line of a listing."""

    key: str
    namespace: str
    stored_at: datetime


class MemoryListResponse(Answer):
    """Oldest first; `total` counts all matches, `nextCursor` continues when there are more."""

    keys: list[MemoryKeyRow]
    total: int
    has_more: bool
    next_cursor: str | None = None


class MemoryDeleteResponse(Answer):
    """Deleting an absent key succeeds with `deleted` false."""

    deleted: bool
    key: str
    namespace: str
    message: str
