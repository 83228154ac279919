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
    # Between the end of a process and the end of its output, whichever comes first.
    last_words_seconds: float = 2
    # For us, to take note of what it wrote before its end.
    hearing_seconds: float = 10
