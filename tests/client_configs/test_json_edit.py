import json

import pytest
from hypothesis import given

from quarterdeck.client_configs import json_edit
from quarterdeck.client_configs.unusable import Unusable
from tests.client_configs.documents import comments, jsonc

PATH = ["mcpServers", "quarterdeck"]
ENTRY = {"command": "/opt/q d/quarterdeck", "args": ["mcp"], "env": {"QUARTERDECK_HOME": "/ü"}}


@given(jsonc("mcpServers"))
def test_what_is_put_in_is_there_and_all_else_stays(text: str) -> None:
    before = json_edit.data(text)
    after = json_edit.put(text, PATH, ENTRY)
    servers = before.get("mcpServers", {})
    assert isinstance(servers, dict)
    assert json_edit.data(after) == {**before, "mcpServers": {**servers, "quarterdeck": ENTRY}}
    assert list(json_edit.data(after))[: len(before)] == list(before)
    assert comments(after) == comments(text)


@given(jsonc("mcpServers"))
def test_taking_it_out_again_brings_back_every_byte(text: str) -> None:
    back = json_edit.remove(json_edit.put(text, PATH, ENTRY), PATH)
    before = json_edit.data(text)
    if before.get("mcpServers") == {}:
        # That the section was there and empty cannot be known any more; clients do not care.
        before.pop("mcpServers")
        assert json_edit.data(back) in (before, {**before, "mcpServers": {}})
        assert comments(back) == comments(text)
    elif before:
        assert back == text
    else:
        assert back.split() == text.split() or "".join(back.split()) == "".join(text.split())


@given(jsonc("mcpServers"))
def test_taking_out_any_member_leaves_the_others_and_their_comments(text: str) -> None:
    before = json_edit.data(text)
    for key in before:
        after = json_edit.remove(text, [key])
        assert json_edit.data(after) == {name: before[name] for name in before if name != key}
        left = iter(comments(text))
        assert all(comment in left for comment in comments(after)), "in their order"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "s": {\n    "q": 1\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "s": {\n    "q": 1\n  }\n}\n'),
        ("{}", '{\n  "s": {\n    "q": 1\n  }\n}'),
        ('{"a": 1}', '{"a": 1, "s": {"q": 1}}'),
        ('{"a": 1, "s": {}}', '{"a": 1, "s": {"q": 1}}'),
        ('{"s": {"a": 1,}}', '{"s": {"a": 1, "q": 1,}}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"s": {\n\t\t"q": 1\n\t}\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "s": {\r\n        "q": 1\r\n    }\r\n}'),
        ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "s": {\n    "q": 1\n  }\n}'),
        (
            '{\n  "s": {\n    "a": 1, // one\n    // "b": 2\n  },\n}',
            '{\n  "s": {\n    "a": 1, // one\n    "q": 1,\n    // "b": 2\n  },\n}',
        ),
        (
            '{\n  "s": {\n    // none yet\n  }\n}',
            '{\n  "s": {\n    // none yet\n    "q": 1\n  }\n}',
        ),
        ('{\n  "s": {}\n}', '{\n  "s": {\n    "q": 1\n  }\n}'),
        ('{"s": {"q": 0}, "t": 2}', '{"s": {"q": 1}, "t": 2}'),
        ('{"s": 5, "s": {"a": 1}}', '{"s": 5, "s": {"a": 1, "q": 1}}'),
    ],
)
def test_a_new_member_is_written_as_its_neighbours_are(before: str, after: str) -> None:
    assert json_edit.put(before, ["s", "q"], 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"q": 1}', "{}"),
        ('{"q": 1, "b": 2}', '{"b": 2}'),
        ('{"a": 1, "q": 1}', '{"a": 1}'),
        ('{\n  "q": 1,\n  "b": 2\n}', '{\n  "b": 2\n}'),
        ('{\n  "a": 1, // one\n  "q": 1}', '{\n  "a": 1 // one\n  }'),
        ('{\n  "q": 1, // ours?\n  "b": 2\n}', '{\n  // ours?\n  "b": 2\n}'),
        ("{ /* kept */ }", "{ /* kept */ }"),
    ],
)
def test_what_is_left_behind_is_still_well_formed(before: str, after: str) -> None:
    assert json_edit.remove(before, ["q"]) == after
    assert json_edit.data(after) == {
        key: value for key, value in json_edit.data(before).items() if key != "q"
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: expected ',' or '}'"),
        ('{"a" 1}', "line 1, column 6: expected ':'"),
        ("{'a': 1}", "line 1, column 2: this is no JSON"),
        ('{"a": }', "line 1, column 7: expected a value"),
        ('{"a": 1', "line 1, column 8: expected ',' or '}'"),
        ('{"a": [1 2]}', "line 1, column 10: expected ',' or ']'"),
        ("{a: 1}", "line 1, column 2: this is no JSON"),
        ('{"a": 01}', "line 1, column 7: this is no JSON"),
        ('{"a": "\t"}', "line 1, column 7: this is no JSON"),
        ("{} {}", "line 1, column 4: expected the end of the file"),
        ("{,}", "line 1, column 2: expected a key in double quotes"),
        ("{ /* never closed }", "line 1, column 3: this is no JSON"),
        ('{"a":' * 300, "line 1, column 1006: nested deeper than 200 levels"),
    ],
)
def test_a_broken_text_is_refused_with_the_place_of_the_mistake(text: str, place: str) -> None:
    with pytest.raises(Unusable) as refused:
        json_edit.put(text, PATH, ENTRY)
    assert str(refused.value) == f"is broken at {place}"


@pytest.mark.parametrize("text", ["[]", "5", '"text"', '{"mcpServers": []}'])
def test_a_text_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Unusable, match=r"does not hold|something else"):
        json_edit.put(text, PATH, ENTRY)


def test_plain_json_is_read_as_the_standard_library_reads_it() -> None:
    text = json.dumps({"a": [1.5, -2e3, True, None, {"b": '\u2028\\"/'}], "": {}}, indent=1)
    assert json_edit.data(text + "// so that it is no plain JSON") == json.loads(text)
