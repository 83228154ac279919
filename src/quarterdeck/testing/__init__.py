"""The test kit: a whole Quarterdeck in a folder of the test's own, and a clock that obeys.

`python -m quarterdeck.testing.scripted_agent` is an agent for tests; it imports this package, so
nothing is loaded here before somebody asks for it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.testing.clock import FixedClock
    from quarterdeck.testing.deck import Deck, quarterdeck_for_tests
    from quarterdeck.testing.reply import Reply, call_tool

__all__ = ["Deck", "FixedClock", "Reply", "call_tool", "quarterdeck_for_tests"]

_MODULES = {
    "Deck": "deck",
    "FixedClock": "clock",
    "Reply": "reply",
    "call_tool": "reply",
    "quarterdeck_for_tests": "deck",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
