"""What an agent tells beside its work, in a line that a person can read."""

import json
from collections.abc import Callable

from quarterdeck.domain.agent_events import Noticed
from quarterdeck.repositories.runtimes.wire_values import Wire, fit, objects_at, text_at

_SHOWN = 2000


def noticed(name: str, content: Wire) -> Noticed:
    """Return a notice; what nobody knows is shown as it came, but not at any length."""
    words = _KINDS.get(name, _nothing)(content)
    if not words:
        told = {key: value for key, value in content.items() if key != "sessionUpdate"}
        words = f"{name}: {json.dumps(told)}"
    return Noticed(fit(words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."))


def _nothing(_content: Wire) -> str:
    return ""


def _commands(content: Wire) -> str:
    names = [text_at(command, "name") for command in objects_at(content, "availableCommands")]
    return f"It has the commands {', '.join(names)}" if names else "It has no commands"


def _options(content: Wire) -> str:
    options = objects_at(content, "configOptions")
    set_to = [f"{text_at(one, 'id')} {text_at(one, 'currentValue')}".strip() for one in options]
    return f"Its options are: {', '.join(set_to)}" if set_to else ""


def _mode(content: Wire) -> str:
    mode = text_at(content, "currentModeId")
    return f"Its mode is {mode}" if mode else ""


def _title(content: Wire) -> str:
    title = text_at(content, "title")
    return f"It calls the conversation: {title}" if title else ""


_KINDS: dict[str, Callable[[Wire], str]] = {
    "available_commands_update": _commands,
    "config_option_update": _options,
    "current_mode_update": _mode,
    "session_info_update": _title,
}
