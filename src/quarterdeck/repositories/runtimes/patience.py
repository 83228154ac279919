"""How long a local agent may take for what it owes us."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds.

    An agent loads its model's settings, and perhaps another program, before its first answers. To
    end it gets some time in good order, then some after a signal, and then none.
    """

    handshake_seconds: float = 60
    session_seconds: float = 120
    good_order_seconds: float = 2
    signal_seconds: float = 3
    # For what is on its way when a process has ended, and for a process that closed its output.
    last_words_seconds: float = 2
