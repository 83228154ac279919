"""`quarterdeck memory`: what all sessions and agents share, from the command line."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import json_text, moment, print_json, print_table, remark
from quarterdeck.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from quarterdeck.domain.json import JsonObject, JsonValue

app = App(name="memory", help="Store, find and delete shared memory.")

DEFAULT = "default"
# Far more than may be stored, so that the refusal can name the true limit.
MOST_BYTES = 16 * 1024 * 1024
SHOWN_VALUE = 80

Key = Annotated[str, Parameter(help="Name of the entry.")]
Value = Annotated[
    str,
    Parameter(
        help="JSON object, @FILE to read it from a file, or - to read it from stdin.",
        allow_leading_hyphen=True,
    ),
]
InNamespace = Annotated[str, Parameter(help="Namespace of the entry.")]
AnyNamespace = Annotated[str | None, Parameter(help="Look in this namespace only.")]
SearchLimit = Annotated[
    int, Parameter(help="Most results, up to 100.", validator=Number(gte=1, lte=100))
]
ListLimit = Annotated[
    int, Parameter(help="Most keys, up to 1000.", validator=Number(gte=1, lte=1000))
]


@app.command
async def store(
    key: Key,
    value: Value,
    /,
    *,
    namespace: InNamespace = DEFAULT,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Keep a JSON object under a key, replacing what was there."""
    given = _parsed(_read(value))
    sent: JsonObject = {"key": key, "value": given, "namespace": namespace}
    answer = await invocation.call(
        "memory.store",
        sent,
        lambda deck: deck.memory.store(key, _object(given), namespace=namespace),
    )
    print_json(answer) if as_json else remark(answer.message)


@app.command
async def get(
    key: Key,
    /,
    *,
    namespace: InNamespace = DEFAULT,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Print the value stored under a key.

    An absent key is an error; with --json it is an answer that says so.
    """
    answer = await invocation.call(
        "memory.get",
        {"key": key, "namespace": namespace},
        lambda deck: deck.memory.retrieve(key, namespace=namespace),
        recorded=False,
    )
    if as_json:
        print_json(answer)
    elif answer.found:
        print(json_text(answer.value))
    else:
        raise NotFound(answer.message or "", hint="run 'quarterdeck memory list' to see all keys")


@app.command
async def search(
    query: Annotated[str, Parameter(help="Words, or a part of a key.")],
    /,
    *,
    namespace: AnyNamespace = None,
    limit: SearchLimit = 10,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Find entries by key and by the words in their values, best match first."""
    answer = await invocation.call(
        "memory.search",
        {"query": query, "namespace": namespace, "limit": limit},
        lambda deck: deck.memory.search(query, namespace=namespace, limit=limit),
        recorded=False,
    )
    if as_json:
        print_json(answer)
        return
    rows = [
        (hit.key, hit.namespace, moment(hit.stored_at), _excerpt(hit.value))
        for hit in answer.results
    ]
    print_table(("KEY", "NAMESPACE", "STORED", "VALUE"), rows)


@app.command(name="list")
async def list_(
    *,
    prefix: Annotated[str, Parameter(help="Only keys that start so.", show_default=False)] = "",
    namespace: AnyNamespace = None,
    limit: ListLimit = 100,
    cursor: Annotated[str | None, Parameter(help="Where the page before ended.")] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """List keys in the order they were first stored."""
    answer = await invocation.call(
        "memory.list",
        {"prefix": prefix, "namespace": namespace, "limit": limit, "cursor": cursor},
        lambda deck: deck.memory.list(
            prefix=prefix, namespace=namespace, limit=limit, cursor=cursor
        ),
        recorded=False,
    )
    if as_json:
        print_json(answer)
        return
    rows = [(row.key, row.namespace, moment(row.stored_at)) for row in answer.keys]
    print_table(("KEY", "NAMESPACE", "STORED"), rows)
    if answer.next_cursor:
        remark(f"{len(rows)} of {answer.total} keys; continue with --cursor {answer.next_cursor}")


@app.command
async def delete(
    key: Key,
    /,
    *,
    namespace: InNamespace = DEFAULT,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Forget a key; forgetting one that is not there is no error."""
    answer = await invocation.call(
        "memory.delete",
        {"key": key, "namespace": namespace},
        lambda deck: deck.memory.delete(key, namespace=namespace),
    )
    print_json(answer) if as_json else remark(answer.message)


def _read(value: str) -> str:
    if value == "-":
        return _decoded(sys.stdin.buffer.read(MOST_BYTES + 1))
    if not value.startswith("@"):
        return value
    try:
        with Path(value[1:]).open("rb") as file:
            return _decoded(file.read(MOST_BYTES + 1))
    except OSError as error:
        problem = f"names a file that cannot be read: {error.strerror}"
        raise InvalidInput.field("value", problem) from error


def _decoded(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise InvalidInput.field("value", f"is more than {MOST_BYTES} bytes of text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput.field("value", "is not UTF-8 text") from error


def _parsed(text: str) -> "JsonValue":
    """Return the JSON value, or the text itself, which is then refused where it is recorded."""
    from pydantic_core import from_json

    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return text


def _object(value: "JsonValue") -> "JsonObject":
    if isinstance(value, dict):
        return value
    raise InvalidInput.field(
        "value",
        "is not a JSON object",
        hint="""write it like '{"text": "..."}', in single quotes""",
    )


def _excerpt(value: "JsonObject") -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 3] + "..."
