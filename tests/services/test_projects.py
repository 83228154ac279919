"""Projects and roles: seeded by the file, added by commands, found by the contract's rules."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar, cast

import pytest

from quarterdeck.domain.access import ALL_SCOPES, Scope, Scopes
from quarterdeck.errors import (
    AlreadyDefined,
    DefinedElsewhere,
    Denied,
    InvalidInput,
    ProjectNotFound,
    RoleNotFound,
)
from quarterdeck.services.calls import Call
from quarterdeck.services.projects import ProjectService
from quarterdeck.testing import Deck, quarterdeck_for_tests
from tests.support.records import all_rows, root_traces

T = TypeVar("T")
# Built from parts, so that a scanner for credentials does not take it for a real one.
KEY = "not" + "-a-real-" + "key"
OPERATIONS_WRITE = frozenset({Scope.READ, Scope.WRITE})

Opened = Callable[..., AbstractAsyncContextManager[Deck]]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Open the same home again and again, with whatever its config file says by then."""
    home = tmp_path / "home"

    @asynccontextmanager
    async def open_home(config: str = "") -> AsyncGenerator[Deck]:
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(config, encoding="utf-8")
        async with quarterdeck_for_tests(home) as deck:
            yield deck

    return open_home


async def serve(deck: Deck, body: Callable[[], Awaitable[T]], *, scopes: Scopes = ALL_SCOPES) -> T:
    call = Call(surface="cli", name="cli.projects", input={}, scopes=scopes)
    return await deck.quarterdeck.calls.serve(call, body)


def service(deck: Deck) -> ProjectService:
    return deck.quarterdeck.projects


async def names(deck: Deck) -> list[str]:
    answer = await serve(deck, service(deck).list_projects)
    assert answer.total_count == len(answer.projects)
    return [project.name for project in answer.projects]


async def role_names(deck: Deck, project: str) -> list[str]:
    answer = await serve(deck, lambda: service(deck).list_roles(project))
    assert answer.total_count == len(answer.roles)
    return [role.name for role in answer.roles]


async def add(deck: Deck, name: str, **fields: object) -> None:
    await serve(deck, lambda: service(deck).add(name, {"folder": "/srv", **fields}))


async def add_role(deck: Deck, name: str, **fields: object) -> None:
    await serve(deck, lambda: service(deck).add_role(name, {"agent": "claude", **fields}))


async def test_without_configuration_there_is_demo_with_the_scripted_agent(deck: Deck) -> None:
    assert await names(deck) == ["Demo"]
    project = await service(deck).find("demo")
    role, remark = await service(deck).find_role(project, "coder")
    assert (role.name, role.agent, remark) == ("coder", "scripted", None)
    assert project.place == deck.quarterdeck.settings.home / "projects" / "demo"


async def test_demo_makes_way_for_a_project_of_ones_own_and_comes_back_after_it(deck: Deck) -> None:
    demo = await service(deck).find("Demo")
    await add(deck, "Site")
    assert await names(deck) == ["Site"]
    assert await service(deck).get(demo.id) == demo
    await serve(deck, lambda: service(deck).remove("site"))
    assert await names(deck) == ["Demo"]


async def test_the_built_in_role_makes_way_for_a_role_of_ones_own(deck: Deck) -> None:
    built_in = (await service(deck).find_role(await service(deck).find("Demo"), "coder")).role
    await add_role(deck, "reviewer")
    assert await role_names(deck, "Demo") == ["reviewer"]
    assert await service(deck).get_role(built_in.id) == built_in


async def test_the_file_seeds_projects_and_roles_and_ids_stay_the_same(opened: Opened) -> None:
    roles = '[roles.coder]\nagent = "claude"\n'
    async with opened(f'[projects.Site]\nfolder = "/srv"\n{roles}') as deck:
        before = await service(deck).find("site")
        role = (await service(deck).find_role(before, "coder")).role
        assert (before.source, role.source) == ("file", "file")
    async with opened(f'[projects.SITE]\nfolder = "/opt"\n{roles}') as deck:
        after = await service(deck).find("site")
        assert (after.id, after.name, after.place) == (before.id, "SITE", Path("/opt"))
        assert await service(deck).get_role(role.id) == role


async def test_what_leaves_the_file_disappears_and_what_a_command_added_stays(
    opened: Opened,
) -> None:
    async with opened('[projects.Site]\nfolder = "/srv"\n') as deck:
        await add(deck, "Notes")
        assert await names(deck) == ["Notes", "Site"]
    async with opened() as deck:
        assert await names(deck) == ["Notes"]


async def test_opening_with_an_unchanged_file_writes_nothing(opened: Opened) -> None:
    config = '[projects.Site]\nfolder = "/srv"\n[roles.coder]\nagent = "claude"\n'
    async with opened(config) as deck:
        before = all_rows(deck)
    async with opened(config) as deck:
        after = all_rows(deck)
    for table in ("projects", "roles"):
        assert len(before[table]) == 1
        assert after[table] == before[table]


async def test_names_are_found_without_regard_to_case_and_reported_as_spelled(deck: Deck) -> None:
    await add(deck, "My Site")
    assert (await service(deck).find("mY sITE")).name == "My Site"
    assert (await serve(deck, lambda: service(deck).list_roles("MY SITE"))).project == "My Site"


async def test_an_unknown_project_is_refused_with_the_closest_name_and_the_list(deck: Deck) -> None:
    await add(deck, "Setup")
    with pytest.raises(ProjectNotFound) as refused:
        await service(deck).find("seetup")
    assert refused.value.hint == "did you mean 'Setup'?"
    assert refused.value.details["projects"] == ["Setup"]


async def test_a_taken_name_is_refused_in_any_spelling(deck: Deck) -> None:
    await add(deck, "Site")
    with pytest.raises(AlreadyDefined):
        await add(deck, "SITE")
    assert await names(deck) == ["Site"]


async def test_a_project_may_be_called_demo_by_its_user(deck: Deck) -> None:
    await add(deck, "demo")
    assert (await service(deck).find("Demo")).source == "command"


async def test_what_the_file_or_the_program_defines_is_not_removed_by_a_command(
    opened: Opened,
) -> None:
    async with opened('[projects.Site]\nfolder = "/srv"\n') as deck:
        with pytest.raises(DefinedElsewhere, match="config file"):
            await serve(deck, lambda: service(deck).remove("Site"))
        with pytest.raises(DefinedElsewhere, match="part of Quarterdeck"):
            await serve(deck, lambda: service(deck).remove_role("coder"))
        assert await names(deck) == ["Site"]


async def test_a_project_offers_the_roles_it_names_or_else_all(deck: Deck) -> None:
    for role in ("coder", "tester"):
        await add_role(deck, role)
    await add(deck, "All")
    await add(deck, "Some", roles=["Tester"])
    assert await role_names(deck, "All") == ["coder", "tester"]
    assert await role_names(deck, "Some") == ["tester"]


async def test_the_default_word_for_a_role_means_the_projects_default_role(deck: Deck) -> None:
    for role in ("Backend", "tester"):
        await add_role(deck, role)
    await add(deck, "Site", default_role="backend")
    role, remark = await service(deck).find_role(await service(deck).find("Site"), "coder")
    assert role.name == "Backend"
    assert remark == "project 'Site' has no role 'coder', so its default role 'Backend' was taken"


async def test_the_default_word_for_a_role_means_the_only_role_there_is(deck: Deck) -> None:
    await add_role(deck, "tester")
    await add(deck, "Site")
    role, remark = await service(deck).find_role(await service(deck).find("Site"), "coder")
    assert role.name == "tester"
    assert remark == "project 'Site' has no role 'coder', so its only role 'tester' was taken"


@pytest.mark.parametrize("wanted", ["coder", "codr"])
async def test_a_role_that_nothing_stands_in_for_is_refused_with_the_list(
    deck: Deck, wanted: str
) -> None:
    for role in ("backend", "tester"):
        await add_role(deck, role)
    project = await service(deck).find("Demo")
    with pytest.raises(RoleNotFound) as refused:
        await service(deck).find_role(project, wanted)
    assert refused.value.details["roles"] == ["backend", "tester"]


async def test_any_other_unknown_role_is_refused_although_there_is_a_default(deck: Deck) -> None:
    await add_role(deck, "tester")
    with pytest.raises(RoleNotFound):
        await service(deck).find_role(await service(deck).find("Demo"), "reviewer")


async def test_a_project_that_cannot_be_is_refused_with_every_problem(deck: Deck) -> None:
    with pytest.raises(InvalidInput) as refused:
        await add(deck, "a/b", base="-x")
    fields = cast("list[dict[str, str]]", refused.value.details["fields"])
    assert [field["field"] for field in fields] == ["name", "base"]


async def test_the_variables_of_a_role_are_neither_shown_nor_traced(deck: Deck) -> None:
    await add_role(deck, "coder", env={"SOME_TOKEN": KEY})
    shown = await serve(deck, lambda: service(deck).show_role("coder"))
    assert shown.definition["env"] == {"SOME_TOKEN": "*" * 10}
    traces = await root_traces(deck)
    assert len(traces) == 2
    assert KEY not in json.dumps([event.payload for trace in traces for event in trace.events])


async def test_the_variables_of_a_role_in_the_file_are_redacted_everywhere(opened: Opened) -> None:
    config = f'[roles.coder]\nagent = "claude"\nenv = {{SOME_TOKEN = "{KEY}"}}\n'
    async with opened(config) as deck:
        assert KEY not in deck.quarterdeck.redactor.text(f"it said {KEY} aloud")
        assert KEY not in str(deck.quarterdeck.settings.shown())


@pytest.mark.parametrize("fields", [{"command": ["sh"], "agent": None}])
async def test_a_token_that_only_writes_cannot_define_what_the_daemon_runs(
    deck: Deck, fields: dict[str, object]
) -> None:
    with pytest.raises(Denied):
        await serve(deck, lambda: service(deck).add_role("mine", fields), scopes=OPERATIONS_WRITE)


async def test_a_project_is_shown_with_all_that_is_defined_of_it(deck: Deck) -> None:
    await add(deck, "Site", folder=None, repository="/srv/site", copy=[".env"])
    shown = await serve(deck, lambda: service(deck).show("site"))
    assert (shown.name, shown.source) == ("Site", "command")
    assert shown.definition == {
        "description": "",
        "repository": "/srv/site",
        "copy": [".env"],
        "roles": [],
    }
