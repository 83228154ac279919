"""Which processes of this node are alive, known for certain and not by their last word."""

from typing import Protocol


class Presence(Protocol):
    """The node's own list of living processes."""

    @property
    def node_id(self) -> str:
        """Return the id of this home on this machine; it outlives processes."""
        ...

    def announce(self, daemon_id: str) -> None:
        """Be alive until the process ends, however it ends."""
        ...

    def is_alive(self, daemon_id: str) -> bool:
        """Return whether a process of this node is still there."""
        ...

    def forget(self, daemon_id: str) -> None:
        """Remove what a process that is gone left behind."""
        ...
