"""The surroundings in which git does what it is asked and nothing of the user's besides."""

import os
from collections.abc import Mapping

# Before every command. Hooks, signing and file watchers are the user's own programs; pruning
# and packing in the background would outlive the command.
OPTIONS = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "core.safecrlf=false",
    "-c", "commit.gpgsign=false",
    "-c", "push.gpgsign=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
)  # fmt: skip
_SETTINGS = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_MERGE_AUTOEDIT": "no",
}
# A daemon that was started in a hook would have git work on the hook's repository.
_FOREIGN = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
}


def without_repository(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables but for those that point git at some repository."""
    return {name: value for name, value in environment.items() if name not in _FOREIGN}


def surroundings(extra: Mapping[str, str], *, locks: bool) -> dict[str, str]:
    """Return the environment of one command; `locks` if it may refresh an index on its way."""
    optional = {} if locks else {"GIT_OPTIONAL_LOCKS": "0"}
    return {**without_repository(os.environ), **_SETTINGS, **optional, **extra}
