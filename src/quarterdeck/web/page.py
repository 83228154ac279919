"""The start page: one document without scripts or anything to load."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from quarterdeck import __version__

_FOLDER = files("quarterdeck.web") / "templates"
_PAGE = Template((_FOLDER / "home.html").read_text(encoding="utf-8"))
_STYLE = (_FOLDER / "home.css").read_text(encoding="utf-8")
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
LAUNCHED = {"mcpServers": {"quarterdeck": {"command": "quarterdeck", "args": ["mcp"]}}}


@dataclass(frozen=True)
class ListedTool:
    """A tool as the page lists it."""

    name: str
    title: str


@dataclass(frozen=True)
class About:
    """What is running; `address` is the base URL.

    Anybody may look at the page, so it shows what every installation has and no state:
    `instance` is for the health check.
    """

    address: str
    instance: str
    tools: Sequence[ListedTool]


def render_page(about: About) -> str:
    """Return the whole document."""
    server = {"url": f"{about.address}/mcp", "headers": {"Authorization": "Bearer TOKEN"}}
    connected = {"mcpServers": {"quarterdeck": server}}
    return _PAGE.substitute(
        style=_STYLE,
        version=escape(__version__),
        mcp_address=escape(f"{about.address}/mcp"),
        launched=escape(json.dumps(LAUNCHED, indent=2)),
        connected=escape(json.dumps(connected, indent=2)),
        count=len(about.tools),
        rows="\n".join(_row(tool) for tool in about.tools),
    )


def _row(tool: ListedTool) -> str:
    name, title = escape(tool.name), escape(tool.title)
    return f'<tr><th scope="row"><code>{name}</code></th><td>{title}</td></tr>'
