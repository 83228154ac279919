import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from quarterdeck.errors import InvalidSettings
from quarterdeck.setting_sources import RESERVED, environment_name, flag_name
from quarterdeck.settings import KEYS, Section, Settings, find_config, load_settings
from tests.support.repository import ROOT

REFERENCE = ROOT / "docs" / "configuration.md"
# Built from parts, so that a scanner for credentials does not take them for real ones.
PASSWORD = "not" + "-a-real-" + "one"


def database_url(password: str = PASSWORD, rest: str = "@db.example/fleet") -> str:
    return "postgresql://" + f"ada:{password}{rest}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def load(home: Path, environ: Mapping[str, str] | None = None, **flags: object) -> Settings:
    """Load with `section__field` as the names of flags."""
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return load_settings(flags=dotted, environ={"QUARTERDECK_HOME": str(home), **(environ or {})})


def configure(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text, encoding="utf-8")


def problems_of(refused: pytest.ExceptionInfo[InvalidSettings]) -> list[dict[str, str | None]]:
    return cast("list[dict[str, str | None]]", refused.value.details["problems"])


def only_problem(
    home: Path, environ: Mapping[str, str] | None = None, **flags: object
) -> dict[str, str | None]:
    with pytest.raises(InvalidSettings) as refused:
        load(home, environ, **flags)
    (problem,) = problems_of(refused)
    assert problem["problem"]
    assert problem["problem"] in refused.value.message
    assert refused.value.hint
    return problem


def test_without_any_source_every_setting_has_its_default(home: Path) -> None:
    settings = load(home)
    assert settings.database.url is None
    assert settings.database.durability == "full"
    assert settings.database.pool_size == 10
    assert settings.server.host == "127.0.0.1"
    assert settings.server.port == 7420
    assert settings.server.read_only is False
    assert settings.server.toolsets == ("all",)
    assert settings.trace.retention_days == 30
    assert settings.trace.max_traces == 100_000
    assert settings.log.level == "info"
    assert settings.telemetry.otlp_endpoint is None


def test_the_config_file_wins_over_the_default(home: Path) -> None:
    configure(home, "[server]\nport = 1\n")
    assert load(home).server.port == 1


def test_the_environment_wins_over_the_config_file(home: Path) -> None:
    configure(home, "[server]\nport = 1\n")
    assert load(home, {"QUARTERDECK_SERVER_PORT": "2"}).server.port == 2


def test_a_flag_wins_over_the_environment(home: Path) -> None:
    configure(home, "[server]\nport = 1\n")
    environ = {"QUARTERDECK_SERVER_PORT": "2"}
    assert load(home, environ, server__port=3).server.port == 3


def test_sources_that_set_different_fields_of_a_section_add_up(home: Path) -> None:
    configure(home, "[database]\npool_size = 3\n")
    settings = load(home, {"QUARTERDECK_DATABASE_DURABILITY": "normal"})
    assert (settings.database.pool_size, settings.database.durability) == (3, "normal")


def test_a_flag_that_was_not_used_sets_nothing(home: Path) -> None:
    environ = {"QUARTERDECK_SERVER_PORT": "2"}
    assert load(home, environ, server__port=None).server.port == 2


def test_a_flag_may_set_what_is_false(home: Path) -> None:
    environ = {"QUARTERDECK_SERVER_READ_ONLY": "true"}
    assert load(home, environ).server.read_only is True
    assert load(home, environ, server__read_only=False).server.read_only is False


def test_an_empty_variable_counts_as_unset(home: Path) -> None:
    configure(home, "[server]\nport = 1\n")
    settings = load(home, {"QUARTERDECK_SERVER_PORT": " "})
    assert settings.server.port == 1
    assert settings.origin_of("server.port").startswith("config file")


def test_a_value_that_a_better_source_replaces_is_not_checked(home: Path) -> None:
    configure(home, "[server]\nport = 99999\n")
    assert load(home, {"QUARTERDECK_SERVER_PORT": "2"}).server.port == 2


def test_without_an_environment_given_that_of_the_process_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_HOME", str(home))
    assert load_settings().home == home


def test_an_environment_given_replaces_that_of_the_process(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_SERVER_PORT", "2")
    monkeypatch.setenv("SERVER", "{}")
    assert load(home).server.port == 7420


def test_the_default_home_is_in_the_users_home(tmp_path: Path) -> None:
    settings = load_settings(environ={"HOME": str(tmp_path)})
    assert settings.home == tmp_path / ".quarterdeck"
    assert settings.origin_of("home") == "default"


def test_a_tilde_means_the_users_home_of_the_environment_given(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "QUARTERDECK_HOME": "~/deck"}
    assert load_settings(environ=environ).home == tmp_path / "deck"


def test_a_relative_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load_settings(flags={"home": Path("deck")}, environ={})
    assert settings.home == tmp_path / "deck"
    assert settings.origin_of("home") == "flag --home"


def test_the_flag_decides_which_config_file_is_read(tmp_path: Path) -> None:
    configure(tmp_path, "[server]\nport = 1\n")
    environ = {"QUARTERDECK_HOME": str(tmp_path / "other")}
    settings = load_settings(flags={"home": tmp_path}, environ=environ)
    assert settings.server.port == 1


def test_the_config_file_cannot_move_the_home(home: Path) -> None:
    configure(home, 'home = "/srv/deck"\n')
    problem = only_problem(home)
    assert problem["setting"] == "home"
    assert "--home or QUARTERDECK_HOME" in str(problem["problem"])


def test_a_user_that_does_not_exist_has_no_home() -> None:
    with pytest.raises(InvalidSettings) as refused:
        load_settings(environ={"QUARTERDECK_HOME": "~no-such-user/deck"})
    assert "QUARTERDECK_HOME" in str(refused.value.hint)


def test_the_files_of_a_home_are_named_after_it(home: Path) -> None:
    settings = load(home)
    assert settings.config_path == home / "config.toml"
    assert settings.database_path == home / "quarterdeck.db"


def test_the_config_file_is_found_when_it_is_broken(home: Path) -> None:
    configure(home, "[")
    assert find_config(home=home, environ={}) == home / "config.toml"
    environ = {"QUARTERDECK_HOME": str(home)}
    assert find_config(environ=environ) == home / "config.toml"


def test_each_value_knows_its_origin(home: Path) -> None:
    configure(home, "[trace]\nretention_days = 7\n[server]\nport = 1\n")
    settings = load(home, {"QUARTERDECK_DATABASE_POOL_SIZE": "4"}, server__port=3)
    assert settings.origin_of("home") == "environment QUARTERDECK_HOME"
    assert settings.origin_of("trace.retention_days") == f"config file {home / 'config.toml'}"
    assert settings.origin_of("database.pool_size") == (
        "environment QUARTERDECK_DATABASE_POOL_SIZE"
    )
    assert settings.origin_of("server.port") == "flag --port"
    assert settings.origin_of("log.level") == "default"


def test_an_unknown_key_has_no_origin(home: Path) -> None:
    with pytest.raises(KeyError):
        load(home).origin_of("server.prot")


@pytest.mark.parametrize(
    ("key", "flag"),
    [
        ("home", "--home"),
        ("server.read_only", "--read-only"),
        ("database.url", "--database-url"),
        ("trace.retention_days", "--trace-retention-days"),
    ],
)
def test_a_flag_is_named_after_its_key(key: str, flag: str) -> None:
    assert flag_name(key) == flag


def test_every_key_is_shown_once(home: Path) -> None:
    assert [shown.key for shown in load(home).shown()] == list(KEYS)


def test_a_database_url_is_shown_with_its_password_masked(home: Path) -> None:
    settings = load(home, {"QUARTERDECK_DATABASE_URL": database_url()})
    shown = {shown.key: shown.value for shown in settings.shown()}
    assert shown["database.url"] == database_url("*" * 10)


def test_a_password_that_is_a_parameter_is_masked_too(home: Path) -> None:
    url = f"postgres://ada@db.example/fleet?password={PASSWORD}&sslmode=require"
    settings = load(home, {"QUARTERDECK_DATABASE_URL": url})
    assert PASSWORD not in str(settings.shown())
    assert "sslmode=require" in str(settings.shown())
    assert settings.secrets() == (PASSWORD,)


def test_no_text_of_the_settings_holds_the_password(home: Path) -> None:
    settings = load(home, {"QUARTERDECK_DATABASE_URL": database_url()})
    for text in (repr(settings), str(settings), settings.model_dump_json()):
        assert PASSWORD not in text


def test_the_program_itself_can_read_the_url(home: Path) -> None:
    settings = load(home, {"QUARTERDECK_DATABASE_URL": database_url()})
    assert settings.database.url
    assert settings.database.url.get_secret_value() == database_url()


def test_secrets_are_listed_as_written_and_as_decoded(home: Path) -> None:
    settings = load(home, {"QUARTERDECK_DATABASE_URL": database_url("fa%40ke")})
    assert settings.secrets() == ("fa%40ke", "fa@ke")


def test_the_password_of_a_collector_is_a_secret_too(home: Path) -> None:
    endpoint = "https://" + f"ada:{PASSWORD}@otel.example"
    settings = load(home, {"QUARTERDECK_TELEMETRY_OTLP_ENDPOINT": endpoint})
    assert settings.secrets() == (PASSWORD,)
    assert PASSWORD not in str(settings.shown())


@pytest.mark.parametrize("rest", [":@/fleet?host=/run/postgres", "@db.example:5432/fleet"])
def test_without_a_password_there_is_no_secret(home: Path, rest: str) -> None:
    url = f"postgresql://ada{rest}"
    settings = load(home, {"QUARTERDECK_DATABASE_URL": url})
    assert settings.secrets() == ()
    assert url in str(settings.shown())


@pytest.mark.parametrize(
    "url",
    [
        "mysql://" + f"ada:{PASSWORD}@db.example/fleet",
        database_url(f"{PASSWORD}/more"),
        database_url(f"12/{PASSWORD}"),
        database_url(f"12?{PASSWORD}"),
        database_url(f"12#{PASSWORD}"),
        database_url(PASSWORD, "@db.example:port/fleet"),
        database_url(PASSWORD, "@[db.example/fleet"),
    ],
)
def test_refusing_a_url_does_not_tell_its_password(home: Path, url: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        load(home, {"QUARTERDECK_DATABASE_URL": url})
    assert PASSWORD not in f"{refused.value.message}{refused.value.details}"
    # A log prints the chain of causes too.
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("QUARTERDECK_DATABASE_URL", "sqlite:///x.db", "postgresql:// or postgres://"),
        ("QUARTERDECK_DATABASE_DURABILITY", "none", "must be 'full' or 'normal'"),
        ("QUARTERDECK_DATABASE_POOL_SIZE", "0", "must be greater than or equal to 1"),
        ("QUARTERDECK_DATABASE_POOL_SIZE", "101", "must be less than or equal to 100"),
        ("QUARTERDECK_SERVER_HOST", "http://fleet.example", "must be an address such as"),
        ("QUARTERDECK_SERVER_HOST", "fleet.example:80", "must be an address such as"),
        ("QUARTERDECK_SERVER_ALLOWED_HOSTS", "*", "must be an address such as"),
        ("QUARTERDECK_SERVER_ALLOWED_HOSTS", "*.example", "must be an address such as"),
        ("QUARTERDECK_SERVER_ALLOWED_HOSTS", "fleet.example,", "must be an address such as"),
        ("QUARTERDECK_SERVER_PORT", "-1", "must be greater than or equal to 0"),
        ("QUARTERDECK_SERVER_PORT", "65536", "must be less than or equal to 65535"),
        ("QUARTERDECK_SERVER_PORT", "http", "must be a valid integer"),
        ("QUARTERDECK_SERVER_READ_ONLY", "perhaps", "must be a valid boolean"),
        ("QUARTERDECK_SERVER_TOOLSETS", "fleet,memry", "did you mean 'memory'?"),
        ("QUARTERDECK_SERVER_TOOLSETS", "xyz", "known are fleet, a2a"),
        ("QUARTERDECK_SERVER_TOOLSETS", ",", "unknown toolset ''"),
        ("QUARTERDECK_TRACE_RETENTION_DAYS", "0", "must be greater than or equal to 1"),
        ("QUARTERDECK_TRACE_RETENTION_DAYS", "3651", "must be less than or equal to 3650"),
        ("QUARTERDECK_TRACE_MAX_TRACES", "99", "must be greater than or equal to 100"),
        ("QUARTERDECK_TRACE_MAX_TRACES", "100000001", "must be less than or equal to"),
        ("QUARTERDECK_LOG_LEVEL", "loud", "must be 'debug', 'info', 'warning' or 'error'"),
    ],
)
def test_a_value_out_of_its_limits_is_refused_with_its_origin(
    home: Path, variable: str, value: str, expected: str
) -> None:
    problem = only_problem(home, {variable: value})
    assert problem["origin"] == f"environment {variable}"
    assert environment_name(str(problem["setting"])) == variable
    assert expected in str(problem["problem"])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_addresses_are_local(home: Path, host: str) -> None:
    server = load(home, server__host=host).server
    assert server.host == host
    assert server.is_local


@pytest.mark.parametrize("host", ["192.0.2.7", "2001:db8::7", "fleet.example"])
def test_other_addresses_are_accepted_and_are_names_of_the_server(home: Path, host: str) -> None:
    server = load(home, server__host=host, server__allowed_hosts="deck.example").server
    assert not server.is_local
    assert server.names == ("deck.example", host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - what is refused here
def test_every_address_at_once_needs_the_names_that_clients_use(home: Path, host: str) -> None:
    problem = only_problem(home, {"QUARTERDECK_SERVER_HOST": host})
    assert problem["setting"] == "server.allowed_hosts"
    assert f"because server.host is {host}" in str(problem["problem"])

    server = load(home, server__host=host, server__allowed_hosts="deck.example, 192.0.2.7").server
    assert server.names == ("deck.example", "192.0.2.7")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_both_names_of_postgresql_are_accepted(home: Path, scheme: str) -> None:
    url = f"{scheme}:///fleet?host=/run/postgres"
    assert load(home, {"QUARTERDECK_DATABASE_URL": url}).database.url


@pytest.mark.parametrize(
    "line", ['toolsets = ["memory", "trace"]', 'toolsets = "memory, trace,memory"']
)
def test_toolsets_are_an_array_or_separated_by_commas(home: Path, line: str) -> None:
    configure(home, f"[server]\n{line}\n")
    assert load(home).server.toolsets == ("memory", "trace")


def test_toolsets_of_a_flag_or_variable_are_separated_by_commas(home: Path) -> None:
    environ = {"QUARTERDECK_SERVER_TOOLSETS": "fleet, a2a"}
    assert load(home, environ).server.toolsets == ("fleet", "a2a")
    assert load(home, environ, server__toolsets="meta").server.toolsets == ("meta",)


def test_offering_no_toolset_is_refused(home: Path) -> None:
    configure(home, "[server]\ntoolsets = []\n")
    assert "at least one" in str(only_problem(home)["problem"])


def test_the_standard_variable_sets_the_collector(home: Path) -> None:
    standard = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.example:4318"}
    settings = load(home, standard)
    assert settings.telemetry.otlp_endpoint == "http://otel.example:4318"
    assert settings.origin_of("telemetry.otlp_endpoint") == (
        "environment OTEL_EXPORTER_OTLP_ENDPOINT"
    )


def test_our_own_variable_wins_over_the_standard_one(home: Path) -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://theirs.example",
        "QUARTERDECK_TELEMETRY_OTLP_ENDPOINT": "http://ours.example",
    }
    assert load(home, environ).telemetry.otlp_endpoint == "http://ours.example"


@pytest.mark.parametrize(
    ("variable", "closest"),
    [
        ("QUARTERDECK_SERVER_PROT", "QUARTERDECK_SERVER_PORT"),
        ("QUARTERDECK_PORT", "QUARTERDECK_SERVER_PORT"),
        ("QUARTERDECK_DB_URL", "QUARTERDECK_DATABASE_URL"),
        ("QUARTERDECK_MAX_TRACES", "QUARTERDECK_TRACE_MAX_TRACES"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_closest(
    home: Path, variable: str, closest: str
) -> None:
    problem = only_problem(home, {variable: "1"})
    assert problem["origin"] == f"environment {variable}"
    assert f"did you mean {closest}?" in str(problem["problem"])


def test_a_variable_like_no_other_is_refused_without_a_guess(home: Path) -> None:
    problem = only_problem(home, {"QUARTERDECK_XYZZY": "1"})
    assert problem["problem"] == "is not a setting"


def test_reserved_variables_belong_to_other_parts(home: Path) -> None:
    assert load(home, dict.fromkeys(RESERVED, "1")) == load(home)


@pytest.mark.parametrize(
    ("text", "key", "closest"),
    [
        ("[server]\nprot = 1\n", "server.prot", "server.port"),
        ("[databse]\npool_size = 1\n", "databse.pool_size", "database.pool_size"),
        ("port = 1\n", "port", "server.port"),
        ('database = "x"\n', "database", "database.url"),
        ("[server.port]\nhigh = 1\n", "server.port.high", "server.port"),
    ],
)
def test_an_unknown_key_of_the_file_is_refused_with_the_closest(
    home: Path, text: str, key: str, closest: str
) -> None:
    configure(home, text)
    problem = only_problem(home)
    assert problem["setting"] == key
    assert problem["origin"] == f"config file {home / 'config.toml'}"
    assert f"did you mean {closest!r}?" in str(problem["problem"])


def test_an_unknown_section_is_refused_also_when_it_is_empty(home: Path) -> None:
    configure(home, "[srv]\n")
    assert only_problem(home)["setting"] == "srv"


def test_a_known_section_may_be_empty(home: Path) -> None:
    configure(home, "[server]\n")
    assert load(home).server.port == 7420


def test_an_unknown_flag_is_refused(home: Path) -> None:
    assert only_problem(home, server__prot=1)["setting"] == "server.prot"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"[server]\nport = \n", 2),
        (b"[server]\nport = 1\n[server", 3),
        (b"[server]\nport = 1\nport = 2", 3),
        (b'[log]\nlevel = "\xff"\n', 2),
    ],
)
def test_a_broken_file_is_refused_with_the_line(home: Path, content: bytes, line: int) -> None:
    (home / "config.toml").write_bytes(content)
    problem = only_problem(home)
    assert problem["origin"] == f"config file {home / 'config.toml'}"
    assert f"at line {line}" in str(problem["problem"])


def test_a_file_that_cannot_be_read_is_refused(home: Path) -> None:
    (home / "config.toml").mkdir()
    assert "cannot be read" in str(only_problem(home)["problem"])


def test_a_byte_order_mark_is_no_problem(home: Path) -> None:
    (home / "config.toml").write_bytes(b"\xef\xbb\xbf[server]\nport = 1\n")
    assert load(home).server.port == 1


def test_all_problems_of_all_sources_are_reported_at_once(home: Path) -> None:
    configure(home, "[server]\nprot = 1\n[log]\nlevel = 'loud'\n")
    environ = {"QUARTERDECK_XYZZY": "1", "QUARTERDECK_DATABASE_POOL_SIZE": "many"}
    with pytest.raises(InvalidSettings) as refused:
        load(home, environ, server__port=99999)
    assert {problem["setting"] for problem in problems_of(refused)} == {
        None,
        "server.prot",
        "log.level",
        "database.pool_size",
        "server.port",
    }
    assert refused.value.message.startswith("The configuration has 5 problems: ")
    for problem in problems_of(refused):
        assert str(problem["problem"]) in refused.value.message


def test_a_broken_file_does_not_hide_a_wrong_variable(home: Path) -> None:
    configure(home, "[")
    with pytest.raises(InvalidSettings) as refused:
        load(home, {"QUARTERDECK_SERVER_PORT": "http"})
    assert len(problems_of(refused)) == 2


def test_settings_cannot_be_changed(home: Path) -> None:
    settings = load(home)
    with pytest.raises(ValidationError):
        settings.home = home / "other"
    with pytest.raises(ValidationError):
        settings.server.port = 1


def test_every_field_is_described() -> None:
    sections = {"": Settings, **{cls.__name__: cls for cls in Section.__subclasses__()}}
    undescribed = [
        f"{section}.{name}"
        for section, cls in sections.items()
        for name, field in cls.model_fields.items()
        if not field.description
    ]
    assert undescribed == []


@pytest.mark.parametrize("key", KEYS)
def test_the_reference_says_what_the_model_says(key: str) -> None:
    cells = reference_rows()[key]
    schema = schema_of(key)
    assert cells["environment variable"] == f"`{environment_name(key)}`"
    assert cells["default"] == default_in_reference(key)
    assert cells["meaning"] == schema["description"]
    for limit in ("minimum", "maximum"):
        assert str(schema.get(limit, "")) in cells["accepts"]
    for choice in schema.get("enum", ()):
        assert f"`{choice}`" in cells["accepts"]


def test_the_reference_has_no_setting_that_does_not_exist() -> None:
    assert tuple(reference_rows()) == KEYS
    names = set(re.findall(r"QUARTERDECK_\w+", REFERENCE.read_text(encoding="utf-8")))
    assert names == {*RESERVED, *map(environment_name, KEYS)}


def test_the_example_in_the_reference_is_accepted(home: Path) -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    configure(home, example)
    assert load(home).server.toolsets == ("memory", "trace", "meta")


def reference_rows() -> dict[str, dict[str, str]]:
    lines = REFERENCE.read_text(encoding="utf-8").splitlines()
    header, _, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return {row[0].strip("`"): dict(zip(header, row, strict=True)) for row in rows}


def schema_of(key: str) -> dict[str, Any]:
    schema = Settings.model_json_schema()
    section, _, name = key.rpartition(".")
    if section:
        schema = schema["$defs"][f"{section.title()}Settings"]
    return schema["properties"][name]


def default_in_reference(key: str) -> str:
    if key == "home":
        return "`~/.quarterdeck`"
    default = schema_of(key)["default"]
    if default in (None, []):
        return "unset"
    return f"`{default[0] if key == 'server.toolsets' else str(default).lower()}`"
