import pytest
from hypothesis import assume, given

from quarterdeck.client_configs import toml_edit
from quarterdeck.client_configs.unusable import Unusable
from tests.client_configs.documents import toml

PATH = ["mcp_servers", "quarterdeck"]
ENTRY = {"command": "/opt/q d/quarterdeck", "args": ["mcp"], "env": {"QUARTERDECK_HOME": "/ü"}}


def is_toml(text: str) -> bool:
    try:
        toml_edit.data(text)
    except Unusable:
        return False
    return True


@given(toml())
def test_a_new_table_is_put_at_the_end_and_all_else_stays(text: str) -> None:
    assume(is_toml(text))
    before = toml_edit.data(text)
    after = toml_edit.put(text, PATH, ENTRY)
    assert after.startswith(text)
    servers = before.get("mcp_servers", {})
    assert isinstance(servers, dict)
    assert toml_edit.data(after) == {**before, "mcp_servers": {**servers, "quarterdeck": ENTRY}}


@given(toml())
def test_taking_it_out_again_brings_back_every_byte(text: str) -> None:
    assume(is_toml(text))
    assert toml_edit.remove(toml_edit.put(text, PATH, ENTRY), PATH) == text


@given(toml(), toml())
def test_it_can_be_taken_out_from_between_others(above: str, below: str) -> None:
    below = below.removeprefix("\ufeff").replace("s{}", "z")
    with_ours = toml_edit.put(above, PATH, ENTRY) if is_toml(above) else ""
    whole = with_ours + ("" if with_ours.endswith("\n") else "\n") + "[between]\n" + below
    assume(with_ours and is_toml(whole))
    after = toml_edit.remove(whole, PATH)
    assert toml_edit.data(after) == toml_edit.without(toml_edit.data(whole), PATH)
    assert after.endswith("[between]\n" + below)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[s.q]\nx = 1\n"),
        ("a = 1\n", "a = 1\n\n[s.q]\nx = 1\n"),
        ("a = 1", "a = 1\n\n[s.q]\nx = 1"),
        ("a = 1\r\n", "a = 1\r\n\r\n[s.q]\r\nx = 1\r\n"),
        ("s.other.x = 2\n", "s.other.x = 2\n\n[s.q]\nx = 1\n"),
        ("[s]\n# mine\n", "[s]\n# mine\n\n[s.q]\nx = 1\n"),
    ],
)
def test_a_new_table_follows_the_line_ends_of_the_file(before: str, after: str) -> None:
    assert toml_edit.put(before, ["s", "q"], {"x": 1}) == after


def test_a_section_on_one_line_is_edited_too() -> None:
    text = "# servers\nmcp_servers = { other = { command = 'x' } } # mine\n"
    after = toml_edit.put(text, PATH, ENTRY)
    assert toml_edit.data(after) == {
        "mcp_servers": {"other": {"command": "x"}, "quarterdeck": ENTRY}
    }
    assert after.startswith("# servers\nmcp_servers = {")
    assert after.endswith("# mine\n")
    assert toml_edit.data(toml_edit.remove(after, PATH)) == toml_edit.data(text)


def test_a_table_that_was_there_is_replaced_and_the_comment_after_it_stays() -> None:
    text = "[s.q]\ncommand = 'old'\n[s.q.env]\nA = '1'\n\n# about t\n[t]\nx = 1\n"
    after = toml_edit.put(text, ["s", "q"], {"command": "new"})
    assert after == '\n# about t\n[t]\nx = 1\n\n[s.q]\ncommand = "new"\n'


def test_a_value_inside_a_table_is_changed_in_its_place() -> None:
    text = "[s.q] # ours\ncommand = 'old' # where\ntimeout = 5\n\n# about t\n[t]\n"
    after = toml_edit.put(text, ["s", "q", "command"], "new")
    assert after == text.replace("'old'", '"new"')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = 1\nb = \n", "line 2, column 5: invalid value"),
        ("a = [1,\n", "line 2, column 1: invalid value"),
        ("a = 1\na = 2\n", "line 2, column 6: cannot overwrite a value"),
    ],
)
def test_a_broken_text_is_refused_with_the_place_of_the_mistake(text: str, place: str) -> None:
    with pytest.raises(Unusable) as refused:
        toml_edit.put(text, PATH, ENTRY)
    assert str(refused.value) == f"is broken at {place}"


@pytest.mark.parametrize("text", ["mcp_servers = 5\n", "[[mcp_servers]]\nx = 1\n"])
def test_a_text_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Unusable, match="something else than a table"):
        toml_edit.put(text, PATH, ENTRY)
