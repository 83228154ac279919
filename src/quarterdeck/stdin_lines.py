"""Lines that clients write to stdin, made fit for the MCP SDK's parser.

The SDK drops a line it cannot parse, and the client waits for ever; text that is not UTF-8 it
stores with replacement characters. Such a request is passed on without its arguments and with a
note of what was wrong, so that it is refused, and traced, like any other invalid call.
"""

import json
import logging
import re
from typing import Any, cast

from quarterdeck.domain.json import find_bad_text, has_lone_surrogate

logger = logging.getLogger(__name__)

UNREADABLE = "quarterdeck/unreadable"

# The SDK's parser gives up at 200 levels; fewer brackets than this cannot nest that deep.
_FEW_BRACKETS = 150
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ID = re.compile(r'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")')
_TOOL = re.compile(r'"name"\s*:\s*"([A-Za-z0-9_./-]{1,128})"')


def readable(line: bytes) -> bytes:
    """Return the line, a request to refuse it, or nothing when nobody waits for an answer."""
    problem = _problem(line)
    if problem is None:
        return line
    request = _request(line)
    if request is None:
        logger.warning("Ignored a line on stdin: it %s", problem)
        return b""
    return json.dumps(_refusable(request, problem)).encode() + b"\n"


def _problem(line: bytes) -> str | None:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"is not valid UTF-8 (byte {error.start})"
    few = line.count(b"{") + line.count(b"[") < _FEW_BRACKETS
    if few and not _ESCAPED_SURROGATE.search(line) and line.lstrip().startswith(b"{"):
        return None
    return None if _is_parsed(line) else _words(line)


def _is_parsed(text: bytes) -> bool:
    # The SDK's own parser. Imported here, because few lines need it and the bridge starts fast.
    from pydantic_core import from_json

    try:
        return isinstance(from_json(text), dict)
    except ValueError:
        return False


def _words(line: bytes) -> str:
    try:
        found = find_bad_text(json.loads(line))
    except RecursionError:
        return "is nested too deeply"
    except ValueError:
        return "is not JSON"
    return f"has text that is not valid Unicode at {found}" if found else "is nested too deeply"


def _request(line: bytes) -> dict[str, Any] | None:
    """Return the request somebody waits for, as far as it can be read."""
    text = line.decode(errors="replace")
    try:
        message = json.loads(text)
    except RecursionError:
        return _guessed(text)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    request = cast("dict[str, Any]", message)
    return request if isinstance(request.get("id"), int | str) and "method" in request else None


def _guessed(text: str) -> dict[str, Any] | None:
    """Return a request that is too deep for any parser, by its first id and name."""
    found, tool = _ID.search(text), _TOOL.search(text)
    if found is None:
        return None
    params = {"name": tool[1] if tool else "unknown"}
    return {"jsonrpc": "2.0", "id": json.loads(found[1]), "method": "tools/call", "params": params}


def _refusable(request: dict[str, Any], problem: str) -> dict[str, Any]:
    """Return the request with the note in place of what could not be read."""
    sent = request.get("params")
    params = cast("dict[str, Any]", sent) if isinstance(sent, dict) else {}
    name, meta = params.get("name"), params.get("_meta")
    return {
        "jsonrpc": "2.0",
        "id": request["id"],
        "method": request["method"],
        "params": {
            "name": name if isinstance(name, str) and not has_lone_surrogate(name) else "unknown",
            "_meta": {**_sound(meta), UNREADABLE: problem},
        },
    }


def _sound(meta: object) -> dict[str, Any]:
    """Return the request's metadata, which says its protocol version, unless it is the culprit."""
    known = cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}
    return known if _is_parsed(json.dumps(known).encode()) else {}
