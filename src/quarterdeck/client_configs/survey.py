"""Which clients are on this machine, and which of them start Quarterdeck."""

from collections.abc import Mapping
from dataclasses import dataclass

from quarterdeck.client_configs.clients import CLIENTS, Client, Machine
from quarterdeck.client_configs.entries import our_names
from quarterdeck.client_configs.unusable import Unusable
from quarterdeck.errors import UnusableFile
from quarterdeck.user_files import read_text


@dataclass(frozen=True)
class ClientState:
    """One client; `names` are its entries that start Quarterdeck, `problem` why none was seen."""

    client: str
    title: str
    file: str
    found: bool
    names: tuple[str, ...]
    problem: str | None = None

    @property
    def configured(self) -> bool:
        return bool(self.names)


def configured_clients(environ: Mapping[str, str]) -> list[ClientState]:
    """Return the state of every known client; a file that cannot be read is a finding, no error."""
    machine = Machine(environ)
    return [_state(client, machine) for client in CLIENTS]


def _state(client: Client, machine: Machine) -> ClientState:
    path = client.file(machine)
    names: list[str] = []
    problem = None
    try:
        names = our_names(client.dialect.data(read_text(path) or ""), client.section)
    except UnusableFile as error:
        problem = str(error.details["problem"])
    except Unusable as error:
        problem = str(error)
    return ClientState(
        client.id, client.title, str(path), client.is_found(machine), tuple(names), problem
    )
