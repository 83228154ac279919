"""The test kit: a whole Quarterdeck in a folder of the test's own, and a clock that obeys."""

from quarterdeck.testing.clock import FixedClock
from quarterdeck.testing.deck import Deck, quarterdeck_for_tests
from quarterdeck.testing.reply import Reply, call_tool

__all__ = ["Deck", "FixedClock", "Reply", "call_tool", "quarterdeck_for_tests"]
