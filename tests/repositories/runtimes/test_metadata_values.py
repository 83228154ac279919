import pytest

from quarterdeck.clients.taskfile.reading import ValueType
from quarterdeck.domain.json import JsonValue
from quarterdeck.repositories.runtimes.metadata_values import Unfit, speaks_of_text, value_of


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("", None),
        (" \n\t\n", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("0", 0),
        ("42\n", 42),
        ("  -7  ", -7),
        ("-0", "-0"),
        ("+1", "+1"),
        ("007", "007"),
        ("1.5", "1.5"),
        ("12e3456", "12e3456"),
        ("1_000", "1_000"),
        ("٣", "٣"),
        ("9007199254740991", 9007199254740991),
        ("9007199254740992", "9007199254740992"),
        ("9" * 4000, "9" * 4000),
        ("{}", {}),
        ('{"open": [1, 2.5, null]}', {"open": [1, 2.5, None]}),
        ("[]", []),
        ("[1, 2", "[1, 2"),
        ("{not json}", "{not json}"),
        ("[NaN]", "[NaN]"),
        ("[1e999]", "[1e999]"),
        ('["\\ud800"]', '["\\ud800"]'),
        ("[" * 2000 + "]" * 2000, "[" * 2000 + "]" * 2000),
        ("[" * 100 + "]" * 100, "[" * 100 + "]" * 100),
        ('"quoted"', '"quoted"'),
        ("one\ntwo\n", "one\ntwo"),
        ("1\n2", "1\n2"),
    ],
)
def test_output_is_a_value_only_where_that_is_certain(output: str, value: JsonValue) -> None:
    found = value_of(output, "field", None)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "name",
    [
        "sha",
        "head_sha",
        "git-commit",
        "git:branch",
        "apiVersion",
        "headSHA",
        "SHAOfHead",
        "sha256",
        "HASH",
        "file.hash",
        "branch name",
    ],
)
def test_names_of_commits_and_versions_keep_their_values_as_text(name: str) -> None:
    assert value_of("1234567\n", name, None) == "1234567"
    assert value_of("null", name, None) == "null"


@pytest.mark.parametrize("name", ["shape", "hashed", "committee", "conversion", "items", "pr"])
def test_words_that_only_contain_such_a_word_are_others(name: str) -> None:
    assert not speaks_of_text(name)


@pytest.mark.parametrize(
    ("value_type", "output", "value"),
    [
        ("string", "42", "42"),
        ("string", " true\n", "true"),
        ("integer", "42", 42),
        ("number", "42", 42),
        ("number", "-1.5e3", -1500.0),
        ("boolean", "false", False),
        ("json", '"text"', "text"),
        ("json", "null", None),
        ("json", "1.5", 1.5),
        ("integer", "\n", None),
        ("json", "", None),
    ],
)
def test_a_type_says_what_the_output_is(
    value_type: ValueType, output: str, value: JsonValue
) -> None:
    # Also against the name: the type was chosen, the name may be chance.
    assert value_of(output, "version", value_type) == value


@pytest.mark.parametrize(
    ("value_type", "output"),
    [
        ("integer", "1.5"),
        ("integer", "007"),
        ("integer", "many"),
        ("integer", "9" * 4000),
        ("number", "NaN"),
        ("number", "1e999"),
        ("number", "0x10"),
        ("boolean", "yes"),
        ("boolean", "1"),
        ("json", "{"),
        ("json", "Infinity"),
    ],
)
def test_output_of_another_type_is_refused(value_type: ValueType, output: str) -> None:
    with pytest.raises(Unfit):
        value_of(output, "field", value_type)
