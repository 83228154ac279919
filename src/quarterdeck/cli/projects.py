"""`quarterdeck projects`: what agents work on."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from quarterdeck.cli.definitions import given, is_repository, print_definition
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_json, print_table, remark
from quarterdeck.errors import InvalidInput

app = App(name="projects", help="See and change what agents work on.")

ProjectName = Annotated[str, Parameter(name="NAME", help="Name of the project.")]


@app.command
async def add(
    name: ProjectName,
    /,
    *,
    repository: Annotated[
        Path | None,
        Parameter(help="Git repository; each agent gets a worktree on a branch of its own."),
    ] = None,
    folder: Annotated[
        Path | None, Parameter(help="Folder that all agents share, instead of a repository.")
    ] = None,
    description: Annotated[
        str, Parameter(help="What it is, in one line.", show_default=False)
    ] = "",
    base: Annotated[
        str | None, Parameter(help="Branch to start from; by default the one checked out.")
    ] = None,
    copy: Annotated[
        tuple[str, ...],
        Parameter(
            help="File to copy into each workspace although git ignores it; may be repeated.",
            negative=(),
            show_default=False,
        ),
    ] = (),
    setup: Annotated[
        str | None, Parameter(help="Shell command to run in each new workspace.")
    ] = None,
    default_role: Annotated[
        str | None, Parameter(help="Role of an agent that is created without one.")
    ] = None,
    role: Annotated[
        tuple[str, ...],
        Parameter(
            help="Role to offer; may be repeated. Without any, all are.",
            negative=(),
            show_default=False,
        ),
    ] = (),
    taskfile: Annotated[
        Path | None, Parameter(help="Taskfile with metadata, if not the one of the workspace.")
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Add a project: a git repository, or a folder."""
    fields = given(
        repository=_existing("repository", repository),
        folder=_existing("folder", folder),
        description=description,
        base=base,
        copy=list(copy),
        setup=setup,
        default_role=default_role,
        roles=list(role),
        taskfile=str(taskfile) if taskfile else None,
    )
    answer = await invocation.call(
        "projects.add",
        {"name": name, **fields},
        lambda deck: deck.projects.add(name, fields),
    )
    print_json(answer) if as_json else remark(answer.message)


@app.command(name="list")
async def list_(*, as_json: AsJson = False, invocation: Injected) -> None:
    """List all projects, by name."""
    answer = await invocation.call(
        "projects.list", {}, lambda deck: deck.projects.list_projects(), recorded=False
    )
    if as_json:
        print_json(answer)
        return
    rows = [
        (row.name, row.kind, str(row.path), row.source, row.description) for row in answer.projects
    ]
    print_table(("NAME", "KIND", "PATH", "SOURCE", "DESCRIPTION"), rows)


@app.command
async def show(name: ProjectName, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Show all that is defined of a project."""
    answer = await invocation.call(
        "projects.show", {"name": name}, lambda deck: deck.projects.show(name), recorded=False
    )
    print_json(answer) if as_json else print_definition(answer)


@app.command
async def remove(name: ProjectName, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Forget a project; its repository or folder is left alone."""
    answer = await invocation.call(
        "projects.remove", {"name": name}, lambda deck: deck.projects.remove(name)
    )
    print_json(answer) if as_json else remark(answer.message)


def _existing(option: str, path: Path | None) -> str | None:
    if path is None:
        return None
    place = path.expanduser().absolute()
    if not place.is_dir():
        raise InvalidInput.field(option, f"is no folder that exists: {str(place)!r}")
    if option == "repository" and not is_repository(place):
        raise InvalidInput.field(
            option,
            f"is no git repository: {str(place)!r}",
            hint=f"run 'git init' there, or use it as it is with --folder {path}",
        )
    return str(place)
