import asyncio
import os
from pathlib import Path

import pytest

from quarterdeck.clients.git.program import Git
from quarterdeck.errors import GitFailed, TimedOut
from tests.support.git import NOBODY, git, new_repository


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "project")


def aliased(repository: Path, command: str) -> Git:
    """git with a command `try`, run by a shell."""
    git(repository, "config", "alias.try", f"!{command}")
    return Git(repository)


async def test_a_failure_carries_arguments_code_and_complaint(repository: Path) -> None:
    with pytest.raises(GitFailed) as failed:
        await Git(repository).read("rev-parse", "--verify", "absent")
    assert failed.value.arguments == ("rev-parse", "--verify", "absent")
    assert failed.value.exit_status == 128
    assert "Needed a single revision" in failed.value.stderr


async def test_arguments_never_meet_a_shell(repository: Path) -> None:
    answer = await Git(repository).ask("rev-parse", "--verify", "$(touch ran); touch ran")
    assert answer.code
    assert not (repository / "ran").exists()


async def test_credentials_in_an_address_are_not_repeated(repository: Path) -> None:
    git_that_complains = aliased(repository, "echo at https://ada:word@example.org/x >&2; exit 1;:")
    with pytest.raises(GitFailed) as failed:
        await git_that_complains.read("try")
    assert "https://***@example.org/x" in failed.value.stderr
    assert "word" not in str(failed.value.body())


async def test_a_command_that_takes_too_long_is_ended(repository: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    aliased(repository, f"exec 3> '{tmp_path}/alive'; sleep 600;:")
    watching = asyncio.create_task(asyncio.to_thread((tmp_path / "alive").read_bytes))
    with pytest.raises(TimedOut, match="git try"):
        await Git(repository, deadline_seconds=0.5).read("try")
    await watching  # it ends when the last writer is gone


async def test_an_answer_is_cut_where_it_was_asked_to_be(repository: Path) -> None:
    answer = await aliased(repository, "yes").read("try", most=1000)
    assert answer.is_cut
    assert len(answer.stdout) == 1000


async def test_a_program_that_git_leaves_behind_is_not_waited_for(
    repository: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "gate")
    git_that_leaves = aliased(
        repository, f"cat '{tmp_path}/gate' > '{tmp_path}/left' & echo done;:"
    )
    assert (await git_that_leaves.read("try")).text == "done"
    (tmp_path / "gate").write_text("go", encoding="utf-8")


async def test_much_input_and_much_output_do_not_wait_for_each_other(repository: Path) -> None:
    text = b"story.txt\0" * 200_000
    assert (await aliased(repository, "cat").read("try", stdin=text)).stdout == text


async def test_nothing_can_be_asked_at_a_terminal_in_an_editor_or_a_pager(repository: Path) -> None:
    git_that_tells = aliased(
        repository, "echo $GIT_TERMINAL_PROMPT $GIT_EDITOR $GIT_PAGER $LC_ALL $GIT_OPTIONAL_LOCKS;:"
    )
    assert (await git_that_tells.read("try")).text == "0 false cat C 0"
    assert (await git_that_tells.change("try")).text == "0 false cat C"


async def test_a_repository_named_by_the_surroundings_is_not_used(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    found = (await Git(repository).read("rev-parse", "--show-toplevel")).text
    assert Path(found).name == repository.name


async def test_a_folder_that_is_not_there_is_not_taken_for_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="there is no folder"):
        await Git(tmp_path / "absent").read("version")
