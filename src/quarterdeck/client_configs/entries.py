"""Our entry in a client's file: what the text becomes, proven to change nothing else."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from quarterdeck.client_configs.clients import Client, Entry
from quarterdeck.client_configs.launch import Launch, runs_quarterdeck
from quarterdeck.client_configs.unusable import Unusable

HOME_VARIABLE = "QUARTERDECK_HOME"
Document = dict[str, Any]


def with_entry(text: str, client: Client, name: str, launch: Launch) -> str:
    """Return the text in which `name` starts `launch`; what a user added to our entry stays.

    Raises:
        Unusable: the text is broken, or cannot be edited without touching something else.
    """
    entry = client.entry(launch)
    before = client.dialect.data(text)
    expected = _expected(before, client.section, name, entry)
    if before == expected:
        return text
    path = [client.section, name]
    if runs_quarterdeck(_at(before, path)):
        with suppress(Unusable):
            return _proven(client, _updated(text, client, path, entry), expected)
    after = client.dialect.put(text, path, expected[client.section][name])
    return _proven(client, after, expected)


def _updated(text: str, client: Client, path: list[str], entry: Entry) -> str:
    """Change only the members that differ, so that comments between them stay."""
    before = client.dialect.data(text)
    for place, value in _leaves(entry):
        if _at(before, [*path, *place]) != value:
            text = client.dialect.put(text, [*path, *place], value)
    if HOME_VARIABLE not in entry.get("env", {}):
        text = client.dialect.remove(text, [*path, "env", HOME_VARIABLE])
    return text


def without_entry(text: str, client: Client, name: str) -> str:
    """Return the text without `name`, nor a section that is empty because of it."""
    expected = client.dialect.data(text)
    if found(expected, client.section, name) is None:
        return text
    section = cast("Document", expected[client.section])
    del section[name]
    after = client.dialect.remove(text, [client.section, name])
    if not section and client.section not in client.dialect.data(after):
        del expected[client.section]
    return _proven(client, after, expected)


def found(document: Mapping[str, object], section: str, name: str) -> object | None:
    """Return the entry of this name, whoever made it."""
    return _at(document, [section, name])


def our_names(document: Mapping[str, object], section: str) -> list[str]:
    """Return the names of all entries that start Quarterdeck."""
    entries = document.get(section)
    if not isinstance(entries, Mapping):
        return []
    named = cast("Mapping[str, object]", entries)
    return [name for name, entry in named.items() if runs_quarterdeck(entry)]


def _expected(before: Mapping[str, object], section: str, name: str, entry: Entry) -> Document:
    holder = before.get(section, {})
    if not isinstance(holder, dict):
        raise Unusable(f"has something else than a list of servers under {section!r}")
    servers = cast("Document", holder)
    old = servers.get(name)
    new = _merged(cast("Entry", old), entry) if runs_quarterdeck(old) else entry
    return {**before, section: {**servers, name: new}}


def _merged(old: Entry, entry: Entry) -> Entry:
    """Return our old entry with what is new; a user's own members and variables stay."""
    if not isinstance(old.get("env", {}), dict):
        raise Unusable("has something else than variables under 'env' of our entry")
    variables = cast("Document", old.get("env", {}))
    kept = {key: value for key, value in variables.items() if key != HOME_VARIABLE}
    env = kept | entry.get("env", {})
    merged = old | entry | {"env": env}
    # An empty list of variables goes only if ours was all that it had.
    if not env and ("env" not in old or HOME_VARIABLE in variables):
        del merged["env"]
    return merged


def _leaves(entry: Entry) -> list[tuple[list[str], object]]:
    plain: list[tuple[list[str], object]] = [
        ([key], value) for key, value in entry.items() if key != "env"
    ]
    return plain + [(["env", key], value) for key, value in entry.get("env", {}).items()]


def _at(document: object, path: list[str]) -> object | None:
    for key in path:
        if not isinstance(document, Mapping):
            return None
        document = cast("Mapping[str, object]", document).get(key)
    return document


def _proven(client: Client, after: str, expected: Document) -> str:
    if client.dialect.data(after) != expected:
        raise Unusable("is written in a way that cannot be edited safely")
    return after
