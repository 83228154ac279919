"""The settings: what can be configured, within which limits, and what it is by default.

`load_settings` is the only reader of the environment and of `config.toml`; everything
else is handed the frozen result. `setting_sources` has the reading.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
)
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict

from quarterdeck.daemon.environment import NOT_INHERITED, read_environment_file
from quarterdeck.domain.credentials.form import is_ordinary_word
from quarterdeck.domain.credentials.names import names_credential
from quarterdeck.domain.definitions import Definition, Name, flaws_of, same_name
from quarterdeck.domain.json import dump
from quarterdeck.domain.projects import ProjectDefinition
from quarterdeck.domain.roles import RoleDefinition
from quarterdeck.errors import InvalidSettings
from quarterdeck.setting_sources import (
    Given,
    Layer,
    Problem,
    environment_name,
    find_home,
    flag_name,
    read_environment,
    read_file,
    read_flags,
    refusal,
)
from quarterdeck.toolsets import ALL, TOOLSETS, find_unknown

T = TypeVar("T")

CONFIG_FILE = "config.toml"
METADATA_FILE = "metadata.yaml"

MASK = "*" * 10
# The lead that stays visible, then the password: of the user, or a parameter of libpq.
URL_PASSWORDS = (
    re.compile(r"(://[^:/?#]*:)([^/?#]+)(?=@)"),
    re.compile(r"([?&](?:ssl)?password=)([^&#]+)"),
)


HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*")


def _only_host(host: str) -> str:
    if not _is_address(host) and not HOST_NAME.fullmatch(host):
        raise ValueError(
            "must be an address such as 127.0.0.1 or ::1, or the name of a host, without scheme,"
            " port or wildcard"
        )
    return host


def _is_address(host: str) -> bool:
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


def _is_every_address(host: str) -> bool:
    return _is_address(host) and ip_address(host).is_unspecified


def _reachable_by_name(hosts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    host = info.data.get("host", "")
    if not hosts and _is_every_address(host):
        raise ValueError(
            f"must name the hosts by which clients reach the server, because server.host is {host},"
            " which stands for every address of this machine"
        )
    return tuple(dict.fromkeys(_only_host(name) for name in hosts))


def _only_postgresql(url: SecretStr) -> SecretStr:
    text = url.get_secret_value()
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError(
            "must start with postgresql:// or postgres:// (when it is unset, the embedded SQLite"
            " database in the home is used)"
        )
    if not _is_sound(text):
        raise ValueError(
            "is not a sound URL (in a user name or password, write '@' as %40, ':' as %3A,"
            " '/' as %2F, '?' as %3F and '#' as %23)"
        )
    return url


def _is_sound(url: str) -> bool:
    """Tell whether a password can only be where `URL_PASSWORDS` looks for it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return "@" not in parts.path + parts.query + parts.fragment


def _split_names(names: object) -> object:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


def _only_known_toolsets(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError(f"must name at least one of {', '.join((*TOOLSETS, ALL))}")
    if unknown := find_unknown(names):
        name, advice = unknown
        raise ValueError(f"names the unknown toolset {name!r} ({advice})")
    return tuple(dict.fromkeys(names))


def _named_differently(table: Mapping[str, T]) -> Mapping[str, T]:
    spellings: dict[str, str] = {}
    for name in table:
        if (other := spellings.setdefault(same_name(name), name)) != name:
            raise ValueError(f"has {other!r} and {name!r}, which are the same name")
    return table


class Section(BaseModel):
    # An input may hold a secret, so no error may quote it.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class DatabaseSettings(Section):
    url: Annotated[SecretStr, AfterValidator(_only_postgresql)] | None = Field(
        default=None,
        description="PostgreSQL database, `postgresql://user:password@host/name`."
        " Unset means the embedded SQLite file `quarterdeck.db` in the home.",
    )
    durability: Literal["full", "normal"] = Field(
        default="full",
        description="`full` survives a power loss. `normal` survives a killed process, but a"
        " power loss may lose the newest acknowledged writes.",
    )
    pool_size: int = Field(
        default=10, ge=1, le=100, description="Most connections to PostgreSQL at one time."
    )


class ServerSettings(Section):
    host: Annotated[str, AfterValidator(_only_host)] = Field(
        default="127.0.0.1",
        description="Address to listen on. Traffic is not encrypted: for other machines, put a"
        " TLS proxy in front, or use an SSH tunnel.",
    )
    allowed_hosts: Annotated[
        tuple[str, ...], BeforeValidator(_split_names), AfterValidator(_reachable_by_name)
    ] = Field(
        default=(),
        validate_default=True,
        description="Names and addresses by which clients may reach the server, beside loopback"
        " and `server.host`. Needed when that is `0.0.0.0` or `::`.",
    )
    port: int = Field(
        default=7420,
        ge=0,
        le=65535,
        description="Port to listen on; 0 picks a free one. Unset, a free one is taken when"
        " 7420 is in use.",
    )
    read_only: bool = Field(default=False, description="Offer only tools that change nothing.")
    toolsets: Annotated[
        tuple[str, ...], BeforeValidator(_split_names), AfterValidator(_only_known_toolsets)
    ] = Field(
        default=("all",), description=f"Groups of tools to offer: {', '.join(TOOLSETS)}, or all."
    )
    drain_seconds: int = Field(
        default=55,
        ge=0,
        le=300,
        description="Seconds that running calls get to finish when the server is asked to stop.",
    )
    managed: bool = Field(
        default=False,
        description="A service manager starts the server again when it fails. The units that"
        " `quarterdeck service install` writes set it.",
    )
    session_idle_seconds: int = Field(
        default=1800,
        ge=1,
        le=86_400,
        description="Seconds after which a session of the older protocols that nobody uses ends.",
    )

    @property
    def is_local(self) -> bool:
        """Say whether only this machine can reach the server."""
        return self.host == "localhost" or (
            _is_address(self.host) and ip_address(self.host).is_loopback
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return what clients may call the server, beside loopback."""
        own = () if _is_every_address(self.host) else (self.host,)
        return tuple(dict.fromkeys((*self.allowed_hosts, *own)))


class TraceSettings(Section):
    retention_days: int = Field(default=30, ge=1, le=3650, description="Days a trace is kept.")
    max_traces: int = Field(
        default=100_000,
        ge=100,
        le=100_000_000,
        description="Most traces kept; the oldest go first.",
    )


class FleetSettings(Section):
    log_entries: int = Field(
        default=10_000,
        ge=100,
        le=10_000_000,
        description="Most entries of one agent's log in the database; older ones move to files in"
        " `logs/agents` of the home.",
    )
    log_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=1024 * 1024,
        le=16 * 1024 * 1024 * 1024,
        description="Most bytes of one agent's log in the database; older entries move to files.",
    )
    retention_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="Days that the history of a deleted agent is kept.",
    )
    handshake_seconds: int = Field(
        default=60, ge=1, le=3600, description="Seconds that an agent may take to answer first."
    )
    restart_seconds: float = Field(
        default=1.0,
        ge=0.01,
        le=3600,
        description="Seconds before an agent that broke down is started again. They double each"
        " time, up to a minute or to this; after five starts in a row it stays as it is.",
    )
    lost_seconds: float = Field(
        default=30.0,
        ge=1,
        le=3600,
        description="Seconds after which a daemon on another machine that does not say that it is"
        " alive is taken for gone. It says so six times as often.",
    )
    ask_clients: bool = Field(
        default=True,
        description="Ask the person at the MCP client that waits for an agent what the agent asks,"
        " where the client can show it.",
    )


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe message that is logged."
    )


class TelemetrySettings(Section):
    otlp_endpoint: str | None = Field(
        default=None,
        description="OpenTelemetry collector that spans are sent to. Unset sends none.",
    )


class ShownSetting(NamedTuple):
    """One setting as people may see it: passwords are masked."""

    key: str
    value: str | float | tuple[str, ...] | None
    origin: str


class Settings(BaseSettings):
    """Every setting, frozen; built by `load_settings` and passed, never global."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    home: Path = Field(description="Folder of the database, `config.toml` and all other files.")
    metadata: Path | None = Field(
        default=None,
        description="File of other words for tools, resources and prompts; a relative path starts"
        " at the home. Unset means `metadata.yaml` there.",
    )
    database: DatabaseSettings = Field(
        default=DatabaseSettings(), description="Where state is kept."
    )
    server: ServerSettings = Field(
        default=ServerSettings(), description="What is offered, and where."
    )
    trace: TraceSettings = Field(default=TraceSettings(), description="How long traces are kept.")
    fleet: FleetSettings = Field(
        default=FleetSettings(), description="What is kept of agents, and how long."
    )
    log: LogSettings = Field(default=LogSettings(), description="What is logged.")
    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(), description="Where spans are sent."
    )
    projects: Annotated[Mapping[Name, ProjectDefinition], AfterValidator(_named_differently)] = (
        Field(
            default_factory=dict[str, ProjectDefinition],
            description="What agents work on, by name.",
        )
    )
    roles: Annotated[Mapping[Name, RoleDefinition], AfterValidator(_named_differently)] = Field(
        default_factory=dict[str, RoleDefinition], description="What agents are, by name."
    )

    _origins: dict[str, str]

    def __init__(self, layers: Sequence[Layer]) -> None:
        """Merge the layers, of which the first wins."""
        # pydantic-settings' own sources read the process environment and forget where a
        # value came from; it is given ours, merges them and validates the result.
        sources = tuple(InitSettingsSource(type(self), layer.nested()) for layer in layers)
        super().__init__(_build_sources=(sources, {}))
        self._origins = _origins(layers)

    @property
    def config_path(self) -> Path:
        return self.home / CONFIG_FILE

    @property
    def metadata_path(self) -> Path:
        # A relative one is in the home: commands and the daemon run in different folders.
        return self.home / (self.metadata or Path(METADATA_FILE)).expanduser()

    @property
    def database_path(self) -> Path:
        """Return where the embedded database is, if `database.url` is unset."""
        return self.home / "quarterdeck.db"

    def origin_of(self, key: str) -> str:
        """Return who set `key`: "default", the config file, a variable or a flag."""
        if key not in KEYS:
            raise KeyError(key)
        return self._origins.get(key, "default")

    def shown(self) -> tuple[ShownSetting, ...]:
        """Return every setting and its origin, fit to be printed."""
        return (*map(self._shown, KEYS), *self._shown_definitions())

    def secrets(self) -> tuple[str, ...]:
        """Return the passwords, as written and as decoded, for redaction to look for."""
        texts = [_plain(self._value(key)) for key in KEYS]
        found = [
            match[2] for text in texts for url in URL_PASSWORDS for match in url.finditer(text)
        ]
        found += [key for role in self.roles.values() for key in _keys_among(role.env)]
        found += _keys_among(self._agents_environment())
        return tuple(dict.fromkeys(form for raw in found for form in (raw, unquote(raw))))

    def _agents_environment(self) -> Mapping[str, str]:
        try:
            return read_environment_file(self.home)
        except InvalidSettings:
            return {}  # a daemon that starts refuses it, and says why

    def flags(self) -> tuple[str, ...]:
        """Return as flags what the next daemon of the same home would not find by itself."""
        # The home is known to whoever starts it, and is then not managed by anybody.
        others = [key for key in KEYS if key not in {"home", "server.managed"}]
        handed_on = [key for key in others if self._is_ours_alone(key)]
        return tuple(_as_flag(key, self._value(key)) for key in handed_on)

    def _is_ours_alone(self, key: str) -> bool:
        variable, origin = environment_name(key), self.origin_of(key)
        is_kept_back = variable in NOT_INHERITED and origin == f"environment {variable}"
        return is_kept_back or origin.startswith("flag ")

    def _shown(self, key: str) -> ShownSetting:
        value = self._value(key)
        if isinstance(value, str | Path | SecretStr):
            value = _masked(_plain(value))
        return ShownSetting(key, value, self.origin_of(key))

    def _shown_definitions(self) -> Iterator[ShownSetting]:
        for table in TABLES:
            definitions: Mapping[str, Definition] = getattr(self, table)
            for name, definition in definitions.items():
                fields = definition.model_dump(mode="json", exclude_unset=True)
                if "env" in fields:
                    fields["env"] = dict.fromkeys(fields["env"], MASK)
                for key, value in fields.items():
                    text = value if isinstance(value, str) else dump(value)
                    yield ShownSetting(f"{table}.{name}.{key}", text, self._origins[table])

    def _value(self, key: str) -> Path | SecretStr | str | float | tuple[str, ...] | None:
        section, _, name = key.rpartition(".")
        return getattr(getattr(self, section) if section else self, name)


def load_settings(
    *, flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Read all sources: flags win over the environment, that over the config file.

    Flags are named by dotted key; `None` as a value means that the flag was not used.

    Raises:
        InvalidSettings: names every problem of every source at once.
    """
    flags = flags or {}
    environ = os.environ if environ is None else environ
    home, origin = find_home(flags, environ)
    layers = (
        Layer({"home": Given(home, origin)}),
        read_flags(flags, KEYS),
        read_environment(environ, KEYS),
        read_file(home / CONFIG_FILE, KEYS, TABLES),
    )
    problems = [problem for layer in layers for problem in layer.problems]
    try:
        settings = Settings(layers)
    except ValidationError as error:
        problems += _value_problems(error, _origins(layers))
        # Not chained: the library's error holds the values, and some are secret.
        raise refusal(problems) from None
    if problems:
        raise refusal(problems)
    return settings


def find_config(*, home: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """Return where the config file belongs, also when it is missing or broken."""
    found, _ = find_home({"home": home}, os.environ if environ is None else environ)
    return found / CONFIG_FILE


def _keys() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from (f"{name}.{inner}" for inner in field.annotation.model_fields)
        elif name not in TABLES:
            yield name


# Tables of the config file whose keys are the users' own names; nothing else can set them.
TABLES = ("projects", "roles")
KEYS = tuple(_keys())


def _origins(layers: Sequence[Layer]) -> dict[str, str]:
    return {key: given.origin for layer in reversed(layers) for key, given in layer.given.items()}


def _value_problems(error: ValidationError, origins: Mapping[str, str]) -> Iterator[Problem]:
    for place, text in flaws_of(error, Settings):
        # Below a section there are only values; below a table, whatever a user has written.
        key = ".".join(place if place[0] in TABLES else place[:2])
        yield Problem(key, origins.get(key, origins.get(place[0], "default")), text)


def _keys_among(env: Mapping[str, str]) -> list[str]:
    # A plain word is hidden only if its variable says so: "production" would be gone everywhere.
    return [
        value
        for name, value in env.items()
        if names_credential(name) or not is_ordinary_word(value)
    ]


def _as_flag(key: str, value: Path | SecretStr | str | float | tuple[str, ...] | None) -> str:
    if value is True:
        return flag_name(key)
    return f"{flag_name(key)}={','.join(value) if isinstance(value, tuple) else value}"


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def _masked(text: str) -> str:
    for password in URL_PASSWORDS:
        text = password.sub(rf"\1{MASK}", text)
    return text
