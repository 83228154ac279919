import base64
import hashlib
import json
import logging
import re
from html.parser import HTMLParser

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from quarterdeck import __version__
from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import NotFound, QuarterdeckError
from quarterdeck.web.app import About, ListedTool, build_web
from quarterdeck.web.errors import error_handlers
from tests.support.errors import one_of_each

ADDRESS = "http://127.0.0.1:7420"
TOKEN = "ghp_" + "a" * 36
VOID = {"meta"}


def client_of(app: Starlette, **headers: str) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=ADDRESS, headers=headers)


def client(**headers: str) -> httpx2.AsyncClient:
    """A client of the whole surface."""

    async def answer(_request: Request) -> Response:
        return PlainTextResponse("mcp")

    mcp = Starlette(routes=[Route("/mcp", answer, methods=["POST"])])
    tools = [ListedTool("memory_store", "Store"), ListedTool("x", "<b>&")]

    async def metrics() -> bytes:
        return b"calls 1\n"

    web = build_web(mcp, mcp, About(ADDRESS, "instance-1", tools), Redactor(), metrics)
    return client_of(web, **headers)


def failing(error: Exception) -> httpx2.AsyncClient:
    """A client of a page that fails with `error`."""

    async def fail(_request: Request) -> Response:
        raise error

    routes = [Route("/page", fail)]
    return client_of(Starlette(routes=routes, exception_handlers=error_handlers(Redactor())))


class Page(HTMLParser):
    """Reads a page, and insists that its elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]


async def get_page() -> tuple[Page, httpx2.Response]:
    async with client() as http:
        response = await http.get("/")
    assert response.status_code == 200
    assert response.text.startswith("<!DOCTYPE html>\n")
    return Page(response.text), response


async def test_the_page_says_what_is_running_and_where() -> None:
    page, response = await get_page()
    assert __version__ in page.texts["dd"]
    assert {"instance-1", f"{ADDRESS}/mcp", "memory_store"} <= set(page.texts["code"])
    assert "Store" in page.texts["td"]
    assert "<b>&" in page.texts["td"]
    assert "<b>" not in response.text


async def test_the_page_has_configurations_to_copy() -> None:
    page, _ = await get_page()
    snippets = [json.loads(text) for text in page.texts["code"] if text.startswith("{")]
    assert snippets == [
        {
            "mcpServers": {
                "quarterdeck": {"command": "quarterdeck", "args": ["mcp", "--standalone"]}
            }
        },
        {"mcpServers": {"quarterdeck": {"url": f"{ADDRESS}/mcp"}}},
    ]


async def test_the_page_can_be_read_by_everyone() -> None:
    page, response = await get_page()
    assert ("html", {"lang": "en"}) in page.elements
    assert page.texts["title"] == ["Quarterdeck"]
    assert page.tags().count("h1") == page.tags().count("main") == 1
    assert "caption" in page.tags()
    assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")
    assert "color-scheme: light dark" in response.text


async def test_the_page_loads_nothing_and_its_policy_allows_its_style_alone() -> None:
    page, response = await get_page()
    assert not {"script", "link", "img", "iframe", "form"} & set(page.tags())
    assert not {"src", "href", "style"} & {name for _, names in page.elements for name in names}
    assert not re.search(r"url\(|@import", response.text)
    (style,) = page.texts["style"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = response.headers["content-security-policy"].split("; ")
    assert policy[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]


async def test_the_health_check_names_the_instance() -> None:
    async with client() as http:
        response = await http.get("/healthz")
    assert response.json() == {"ok": True, "instance": "instance-1"}


async def test_the_endpoint_answers_at_its_path() -> None:
    async with client() as http:
        assert (await http.post("/mcp")).text == "mcp"


async def test_metrics_are_shown_in_prometheus_text_format() -> None:
    async with client() as http:
        response = await http.get("/metrics")
    assert response.text == "calls 1\n"
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize("path", ["/", "/healthz", "/metrics", "/mcp", "/nowhere"])
async def test_a_foreign_host_and_a_foreign_origin_are_refused_everywhere(path: str) -> None:
    async with client(Host="evil.example") as http:
        assert (await http.get(path)).status_code == 421
    async with client(Origin="http://evil.example") as http:
        assert (await http.get(path)).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:7420", "localhost:7420", "[::1]:7420"])
async def test_the_names_of_this_machine_are_accepted(host: str) -> None:
    async with client(Host=host) as http:
        assert (await http.get("/healthz")).status_code == 200


async def test_an_unknown_path_is_not_found_in_the_shared_form() -> None:
    async with client() as http:
        response = await http.get("/nowhere")
    assert response.status_code == 404
    assert response.json()["success"] is False
    assert response.json()["error"]["code"] == "NOT_FOUND"
    assert response.json()["error"]["details"]["path"] == "/nowhere"


async def test_a_method_that_is_not_served_is_refused_in_the_shared_form() -> None:
    async with client() as http:
        response = await http.delete("/healthz")
    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert response.json()["error"]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("error", one_of_each(), ids=lambda error: type(error).__name__)
async def test_every_error_has_its_status_and_the_shared_body(error: QuarterdeckError) -> None:
    async with failing(error) as http:
        response = await http.get("/page")
    assert response.status_code == error.http_status
    assert response.headers["content-type"] == "application/json"
    assert response.json() == error.body()


async def test_an_error_shows_no_credential() -> None:
    async with failing(NotFound(f"No agent {TOKEN!r}", details={"name": TOKEN})) as http:
        response = await http.get("/page")
    assert response.status_code == 404
    assert TOKEN not in response.text


async def test_a_bug_is_an_internal_error_whose_reference_is_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        async with failing(RuntimeError("left over from lunch")) as http:
            response = await http.get("/page")
    assert response.status_code == 500
    assert "lunch" not in response.text
    reference = response.json()["error"]["details"]["reference"]
    assert f"Request {reference} failed" in caplog.text
