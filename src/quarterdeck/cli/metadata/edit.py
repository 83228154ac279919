"""`edit`: the user's editor on the file, which is checked before it is replaced."""

import os
from itertools import count
from pathlib import Path
from typing import Literal

from quarterdeck.cli.consent import ask
from quarterdeck.cli.metadata.change import example
from quarterdeck.cli.metadata.editor import (
    find_editor,
    private_copy,
    refuse_without_terminal,
    run_editor,
)
from quarterdeck.cli.metadata.file import MetadataFile, open_file, say_how_to_apply, warn
from quarterdeck.cli.options import Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import Conflict, InvalidMetadata
from quarterdeck.overrides.checking import Finding, examined_text
from quarterdeck.overrides.reading import examine
from quarterdeck.overrides.surface import Surface
from quarterdeck.user_files import create_text, read_text

Choice = Literal["edit", "keep", "back"]


async def edit(*, invocation: Injected) -> None:
    """Open the file in the editor that VISUAL or EDITOR names.

    It is checked when the editor ends. As long as something is wrong with it you can edit
    again, or go back to the file as it was.
    """
    file = open_file(invocation)
    refuse_without_terminal(file.path)
    command = find_editor(os.environ)
    surface, before = await file.baseline(), file.text()
    with private_copy(before or example(), file.path.name) as copy:
        start = copy.read_bytes()
        while True:
            run_editor(command, copy)
            if copy.read_bytes() == start:
                remark("Nothing was changed")
                return
            after, choice = _reviewed(file, copy, surface)
            if choice != "edit":
                break
    if choice == "back":
        remark("The file stays as it was")
        return
    try:
        await file.replace("edit", {}, before, after)
    except Conflict as conflict:
        conflict.hint = f"what you wrote is in {_kept(file.path, after)}"
        raise
    remark(f"Changed {file.path}")
    say_how_to_apply()


def _kept(path: Path, text: str) -> Path:
    """Return a new file beside the other that has the text, which was work."""
    for number in count(1):
        kept = path.with_name(f"{path.stem}-{number}{path.suffix}")
        if create_text(kept, text):
            return kept
    raise AssertionError("numbers do not end")


def _reviewed(file: MetadataFile, copy: Path, surface: Surface) -> tuple[str, Choice]:
    """Return the new text, and what to do with it: without problems, it is kept."""
    after = read_text(copy) or ""
    try:
        found = examined_text(after, str(file.path), surface)[1]
    except InvalidMetadata as error:
        remark(error.message)
        return after, _asked(can_keep=False)
    if not any(finding.fatal for finding in found):
        warn(found)
        return after, "keep"
    _show(found)
    return after, _asked(can_keep=not examine(after, str(file.path))[1])


def _show(found: list[Finding]) -> None:
    for finding in found:
        remark(f"{'error' if finding.fatal else 'warning'}: {finding}")


def _asked(*, can_keep: bool) -> Choice:
    """Ask what to do with a bad file; one that is no metadata at all cannot be kept.

    Whoever says nothing goes back.
    """
    keep = ", [k]eep it, so that no server starts until it is mended" if can_keep else ""
    answers: dict[str, Choice] = {"e": "edit", "": "back", "g": "back"}
    if can_keep:
        answers["k"] = "keep"
    while True:
        answer = ask(f"[e]dit again{keep}, or [g]o back? [e{'k' if can_keep else ''}G] ")
        if answer[:1] in answers:
            return answers[answer[:1]]
