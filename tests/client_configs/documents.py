"""Configuration files as people and editors leave them, made up by Hypothesis."""

import json
import re
from collections.abc import Sequence

from hypothesis import strategies as st

COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', re.DOTALL)
GAPS = ("", "", " ", "\n", "\n  ", "\r\n\t", '// say "so"\n', " /* a, b */ ", "\n  // {\n  ")
KEYS = ("theme", "a b", "mcpServersOld", "ünï", "", "quarterdeck")


def comments(text: str) -> list[str]:
    return [found.strip() for found in COMMENT.findall(text) if found]


@st.composite
def scalar(draw: st.DrawFn) -> str:
    value = draw(st.none() | st.booleans() | st.integers() | st.text(max_size=8))
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def braced(draw: st.DrawFn, members: Sequence[tuple[str, str]]) -> str:
    """An object of these members, with blanks, comments and commas where they may stand."""

    def gap() -> str:
        return draw(st.sampled_from(GAPS))

    written = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{value}{gap()}" for key, value in members]
    trailing = "," + gap() if written and draw(st.booleans()) else ""
    return "{" + ",".join(written) + trailing + gap() + "}"


@st.composite
def member(draw: st.DrawFn) -> tuple[str, str]:
    key = draw(st.sampled_from(KEYS))
    inner = draw(st.lists(st.tuples(st.sampled_from(KEYS), scalar()), max_size=2))
    array = "[" + ", ".join(draw(st.lists(scalar(), max_size=2))) + "]"
    return key, draw(st.one_of(scalar(), braced(inner), st.just(array)))


@st.composite
def jsonc(draw: st.DrawFn, section: str) -> str:
    """A settings file; perhaps it has the section, with servers of others or with none."""
    members = draw(st.lists(member(), max_size=3, unique_by=lambda item: item[0]))
    if draw(st.booleans()):
        servers = draw(st.lists(member().filter(lambda item: item[0] != "quarterdeck"), max_size=2))
        at = draw(st.integers(0, len(members)))
        members.insert(at, (section, draw(braced(servers))))
    lead = draw(st.sampled_from(("", "\ufeff", "// mine\n", "\n")))
    return lead + draw(braced(members)) + draw(st.sampled_from(("", "\n", "\r\n// end")))


TOML_LINES = (
    "# a comment\n",
    "\n",
    "# [mcp_servers.quarterdeck]\n",
    'note{} = """\n[mcp_servers.other]\n# no comment\n"""\n',
    "list{} = [\n  1, # one\n  2,\n]\n",
    "  odd{}   =   'single'  # kept\n",
    "[table{}]\n",
    "[[many]]\n",
    "[mcp_servers.s{}]\ncommand = 'x' # theirs\n",
    '[mcp_servers."s {}".env]\nA = "1"\n',
    "[ mcp_servers . t{} ]\nargs = []\n",
)


@st.composite
def toml(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(TOML_LINES), max_size=8))
    text = "".join(line.replace("{}", str(number)) for number, line in enumerate(lines))
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(("", "\ufeff"))) + text
