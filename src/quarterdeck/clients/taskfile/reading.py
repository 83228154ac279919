"""The fields that a Taskfile declares, read without running or building anything.

Only the tree of nodes is composed: an alias is then one more way to the same node, so a few lines
of them cannot grow into gigabytes, and no tag can construct an object.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MOST_BYTES = 1024 * 1024
MOST_NESTED = 50
MOST_NAME = 256
# An alias makes a whole field, or its text, out of a few bytes.
MOST_FIELDS = 1000
MOST_DESCRIPTION = 2000
NO_DESCRIPTION = "No description"
BOOL, NULL = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"
MERGE = "<<"
COMMANDS = frozenset({"cmd", "cmds"})
PLAIN_KEYS = COMMANDS | {"desc", "meta"}
MOST_MERGED = 10

ValueType = Literal["string", "integer", "number", "boolean", "json"]
VALUE_TYPES: tuple[str, ...] = get_args(ValueType)

# libyaml is in every wheel of PyYAML; a build without it reads the same, more slowly.
_Loader = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
_yaml = cast("Any", yaml)  # these two functions have no types


@dataclass(frozen=True)
class TaskField:
    """A task with a `meta`; `problem` says why it cannot be asked.

    `command` is all there is to the task, if nothing else in the file has a part in it.
    """

    name: str
    description: str = NO_DESCRIPTION
    include_in_list: bool = False
    value_type: ValueType | None = None
    problem: str | None = None
    command: str | None = dataclass_field(default=None, compare=False)


class BadMeta(Exception):
    """A `meta` that says something we do not know."""


def read_fields(taskfile: Path) -> Sequence[TaskField]:
    """Return the fields in the file's order; a file that is absent or broken has none."""
    content = _content(taskfile)
    root = None if content is None else _composed(content)
    members = _Members()
    tasks = members.own(members.own(root).get("tasks"))
    fields = (
        _field(name, meta, members.find(task, "desc"), members)
        for name, task in tasks.items()
        if (meta := members.find(task, "meta")) is not None
    )
    found = list(islice(fields, MOST_FIELDS))
    if content is None or b"{{" in content or not _is_plain(root, members):
        return found
    return [replace(field, command=_command(tasks.get(field.name))) for field in found]


def _content(path: Path) -> bytes | None:
    try:
        # Not blocking: somebody may have put a pipe there.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        content = _beginning(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if len(content) <= MOST_BYTES else None


def _beginning(descriptor: int) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return b""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(MOST_BYTES + 1)


def _composed(content: bytes) -> Node | None:
    try:
        text = content.decode("utf-8-sig")
        if _is_too_deep(text):
            return None
        return _yaml.compose(text, _Loader)
    except (UnicodeDecodeError, yaml.YAMLError):
        return None


def _is_too_deep(text: str) -> bool:
    """Look at the events first: composing calls itself for each level."""
    depth = 0
    for event in _yaml.parse(text, _Loader):
        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if depth > MOST_NESTED:
            return True
    return False


class _Members:
    """The members of mappings, each mapping taken apart once.

    Of two members with one name the last counts, as `task` has it. A merge key (`<<`) is followed
    where it names one mapping.
    """

    def __init__(self) -> None:
        self._known: dict[int, dict[str, Node]] = {}

    def own(self, node: Node | None) -> Mapping[str, Node]:
        if not isinstance(node, MappingNode):
            return {}
        if id(node) not in self._known:
            pairs = cast("list[tuple[Node, Node]]", node.value)
            self._known[id(node)] = {
                key.value: value for key, value in pairs if isinstance(key, ScalarNode)
            }
        return self._known[id(node)]

    def find(self, node: Node | None, name: str) -> Node | None:
        for _ in range(MOST_MERGED):
            members = self.own(node)
            if name in members or MERGE not in members:
                return members.get(name)
            node = members[MERGE]
        return None


def _is_plain(root: Node | None, members: _Members) -> bool:
    """Say whether a file has tasks alone: no variables, no environment, no other files."""
    top = members.own(root)
    version = top.get("version")
    is_three = isinstance(version, ScalarNode) and version.value == "3"
    return is_three and set(top) == {"version", "tasks"}


def _command(task: Node | None) -> str | None:
    """Return the one command of a task that has nothing else to it."""
    if not isinstance(task, MappingNode):
        return None
    pairs = cast("list[tuple[Node, Node]]", task.value)
    keys = [key.value if isinstance(key, ScalarNode) else None for key, _ in pairs]
    commands = [value for key, (_, value) in zip(keys, pairs, strict=True) if key in COMMANDS]
    if len(commands) != 1 or len(set(keys)) != len(keys) or not PLAIN_KEYS.issuperset(keys):
        return None
    [command] = commands
    if isinstance(command, SequenceNode) and len(command.value) == 1:
        command = cast("Node", command.value[0])
    return command.value if isinstance(command, ScalarNode) and command.tag != NULL else None


def _field(name: str, meta: Node, desc: Node | None, members: _Members) -> TaskField:
    description = _text(desc)[:MOST_DESCRIPTION] or NO_DESCRIPTION
    try:
        include_in_list, value_type = _meta(meta, members)
    except BadMeta as error:
        return TaskField(_sound(name), description, problem=f"Bad meta: {error}")
    return TaskField(_sound(name), description, include_in_list, value_type, _uncallable(name))


def _meta(node: Node, members: _Members) -> tuple[bool, ValueType | None]:
    if not isinstance(node, MappingNode):
        raise BadMeta("it must be a mapping with include_in_list")
    said = members.own(node)
    if unknown := sorted(set(said) - {"include_in_list", "type"}):
        raise BadMeta(f"{_sound(unknown[0])[:50]!r} is unknown, known are include_in_list and type")
    value_type = _text(said["type"]) if "type" in said else None
    if "type" in said and value_type not in VALUE_TYPES:
        raise BadMeta(f"type must be one of {', '.join(VALUE_TYPES)}")
    return _flag(said.get("include_in_list")), cast("ValueType | None", value_type)


def _flag(node: Node | None) -> bool:
    value = node.value.lower() if isinstance(node, ScalarNode) and node.tag == BOOL else ""
    if value not in yaml.SafeLoader.bool_values:
        raise BadMeta("include_in_list must be true or false")
    return yaml.SafeLoader.bool_values[value]


def _text(node: Node | None) -> str:
    if not isinstance(node, ScalarNode) or node.tag == NULL:
        return ""
    return _sound(node.value.strip())


def _sound(text: str) -> str:
    """Replace half pairs of surrogates, which an escape can make and nobody can send."""
    return text.encode("utf-8", "replace").decode()


def _uncallable(name: str) -> str | None:
    """Return why a name cannot be given to `task` on its command line."""
    if len(name) > MOST_NAME:
        return f"The name is longer than {MOST_NAME} characters"
    if name.startswith("-"):
        return "The name starts with '-', so task would take it for an option"
    if "=" in name:
        return "The name contains '=', so task would take it for a variable"
    if not name.strip() or not name.isprintable():
        return "The name is blank or holds characters that cannot be shown"
    return None
