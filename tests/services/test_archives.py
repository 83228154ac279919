"""Backups and restores on both databases."""

import asyncio
import json
import stat
from functools import partial
from pathlib import Path

import anyio
import pytest

from quarterdeck.domain.access import Scope
from quarterdeck.domain.archive import BackupResponse, RestorePlan
from quarterdeck.domain.trace import TraceStatus
from quarterdeck.errors import CannotWrite, Conflict, Denied, NotFound
from quarterdeck.repositories.presence import FilePresence
from quarterdeck.repositories.sql.daemons import SqlDaemonRepository
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck, quarterdeck_for_tests
from tests.support.archives import back_up, found, keys, members, restore, store
from tests.support.records import newest_trace, root_traces
from tests.support.workshop import Workshop


def home_of(deck: Deck) -> Path:
    return deck.quarterdeck.settings.home


async def test_what_was_backed_up_comes_back(deck: Deck) -> None:
    product = deck.quarterdeck
    await store(product, "first", "the anchor")
    await store(product, "second", "the keel")
    saved = await back_up(product)
    await store(product, "third", "the mast")
    await store(product, "first", "changed")
    answer = await restore(product, saved.path)
    assert answer.restored
    assert await keys(product) == ["first", "second"]
    assert await found(product, "anchor") == ["first"]
    assert await found(product, "keel") == ["second"]
    assert await found(product, "mast") == []
    assert await found(product, "changed") == []


async def test_a_restored_memory_can_be_written_to(deck: Deck) -> None:
    product = deck.quarterdeck
    await store(product, "first", "the anchor")
    saved = await back_up(product)
    await store(product, "second")
    await restore(product, saved.path)
    await store(product, "first", "the rudder")
    await store(product, "after", "the sail")
    assert await keys(product) == ["first", "after"]
    assert await found(product, "anchor") == []
    assert await found(product, "rudder") == ["first"]
    assert await found(product, "sail") == ["after"]


async def test_the_state_before_a_restore_is_saved_and_can_be_had_back(deck: Deck) -> None:
    product = deck.quarterdeck
    saved = await back_up(product)
    await store(product, "late", "the mast")
    answer = await restore(product, saved.path)
    assert await keys(product) == []
    assert answer.saved_as is not None
    assert answer.saved_as.endswith("-before-restore.zip")
    await restore(product, answer.saved_as)
    assert await keys(product) == ["late"]
    assert await found(product, "mast") == ["late"]


async def test_a_backup_says_what_it_holds_and_is_for_its_owner_alone(deck: Deck) -> None:
    product = deck.quarterdeck
    await store(product, "first")
    answer = await back_up(product)
    path = Path(answer.path)
    assert path.parent == home_of(deck) / "backups"
    about = await anyio.Path(path).stat()
    assert stat.S_IMODE(about.st_mode) == 0o600
    assert (answer.size, answer.contents.counts["memory"]) == (about.st_size, 1)
    manifest = json.loads(members(path)["manifest.json"])
    assert (manifest["format"], manifest["revision"]) == (1, answer.revision)
    assert manifest["contents"]["counts"] == answer.contents.counts


async def test_both_are_recorded_and_the_restored_database_has_the_restores_trace(
    deck: Deck,
) -> None:
    product = deck.quarterdeck
    await store(product, "first")
    saved = await back_up(product)
    assert (await newest_trace(deck)).workflow_id == "cli.backup"
    await restore(product, saved.path)
    assert [trace.workflow_id for trace in await root_traces(deck)] == [
        "cli.restore",
        "cli.memory.store",
    ]


async def test_what_is_replaced_is_shown_before_and_a_no_changes_nothing(deck: Deck) -> None:
    product = deck.quarterdeck
    await store(product, "first")
    saved = await back_up(product)
    await store(product, "second")
    seen: list[RestorePlan] = []

    def refuse(plan: RestorePlan) -> bool:
        seen.append(plan)
        return False

    answer = await restore(product, saved.path, confirm=refuse)
    assert not answer.restored
    [plan] = seen
    assert (plan.now.counts["memory"], plan.then.counts["memory"]) == (2, 1)
    assert plan.now.newest_memory_at is not None
    assert plan.then.newest_memory_at is not None
    assert plan.now.newest_memory_at > plan.then.newest_memory_at
    assert await keys(product) == ["first", "second"]
    assert sorted(path.name for path in (home_of(deck) / "backups").iterdir()) == [
        Path(saved.path).name
    ]


async def test_the_homes_files_are_restored_as_they_were(deck: Deck) -> None:
    home, product = home_of(deck), deck.quarterdeck
    (home / "policies" / "team").mkdir(parents=True)
    (home / "policies" / "team" / "a.yaml").write_text("first", encoding="utf-8")
    (home / "metadata.yaml").write_text("version: 1", encoding="utf-8")
    saved = await back_up(product)
    assert list(saved.files) == ["metadata.yaml", "policies/team/a.yaml"]
    (home / "policies" / "team" / "a.yaml").write_text("second", encoding="utf-8")
    (home / "policies" / "b.yaml").write_text("new", encoding="utf-8")
    (home / "metadata.yaml").unlink()
    plans: list[RestorePlan] = []
    await restore(product, saved.path, confirm=lambda plan: plans.append(plan) or True)
    changes = plans[0].files
    assert list(changes.replaced) == ["policies/team/a.yaml"]
    assert (list(changes.added), list(changes.removed)) == (["metadata.yaml"], ["policies/b.yaml"])
    assert (home / "policies" / "team" / "a.yaml").read_text(encoding="utf-8") == "first"
    assert not (home / "policies" / "b.yaml").exists()
    assert (home / "metadata.yaml").read_text(encoding="utf-8") == "version: 1"


async def test_the_database_alone_can_be_restored(deck: Deck) -> None:
    home, product = home_of(deck), deck.quarterdeck
    saved = await back_up(product)
    (home / "config.toml").write_text("", encoding="utf-8")
    await store(product, "late")
    answer = await restore(product, saved.path, database_only=True)
    assert list(answer.plan.files.removed) == []
    assert (home / "config.toml").exists()
    assert await keys(product) == []


async def test_secrets_go_in_only_when_asked_and_the_homes_own_things_never(deck: Deck) -> None:
    home, product = home_of(deck), deck.quarterdeck
    for name in ("env", "token", "node", "config.toml"):
        (home / name).write_text("NAME=value", encoding="utf-8")
    plain = await back_up(product)
    assert list(plain.files) == ["config.toml"]
    full = await back_up(product, with_secrets=True)
    assert list(full.files) == ["config.toml", "env"]
    (home / "env").write_text("NAME=other", encoding="utf-8")
    await restore(product, plain.path)
    assert (home / "env").read_text(encoding="utf-8") == "NAME=other"
    await restore(product, full.path)
    assert (home / "env").read_text(encoding="utf-8") == "NAME=value"
    assert stat.S_IMODE((home / "env").stat().st_mode) == 0o600


async def test_a_backup_taken_while_others_write_is_one_moment(deck: Deck) -> None:
    product = deck.quarterdeck
    archives: list[BackupResponse] = []
    done = anyio.Event()

    async def write() -> None:
        number = 0
        while not done.is_set():
            await store(product, f"k{number}")
            number += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        try:
            archives += [await back_up(product) for _ in range(3)]
        finally:
            done.set()
    for saved in archives:
        await restore(product, saved.path)
        counts = saved.contents.counts
        stored = await keys(product)
        assert sorted(stored) == sorted(f"k{number}" for number in range(counts["memory"]))
        assert await found(product, "k0") or not stored


async def test_a_trace_that_was_open_comes_back_closed_as_interrupted(deck: Deck) -> None:
    product, workshop = deck.quarterdeck, Workshop(deck)
    building = asyncio.create_task(
        product.calls.serve(Call("cli", "cli.build", {}), workshop.build)
    )
    await workshop.entered.wait()
    saved = await back_up(product)
    workshop.released.set()
    await building
    assert {trace.status for trace in await root_traces(deck)} == {TraceStatus.SUCCESS}
    await restore(product, saved.path)
    by_name = {trace.workflow_id: trace.status for trace in await root_traces(deck)}
    assert by_name == {"cli.build": TraceStatus.FAILURE, "cli.restore": TraceStatus.SUCCESS}


async def test_work_that_outlasts_a_restore_leaves_its_trace(deck: Deck) -> None:
    product, workshop = deck.quarterdeck, Workshop(deck)
    saved = await back_up(product)
    async with anyio.create_task_group() as tasks:
        call = Call("cli", "cli.build", {})
        tasks.start_soon(product.calls.serve, call, workshop.build)
        await workshop.entered.wait()
        await restore(product, saved.path)
        workshop.released.set()
    by_name = {trace.workflow_id: trace.status for trace in await root_traces(deck)}
    assert by_name == {"cli.build": TraceStatus.SUCCESS, "cli.restore": TraceStatus.SUCCESS}


async def test_processes_that_are_alive_still_own_their_rows_afterwards(deck: Deck) -> None:
    product = deck.quarterdeck
    saved = await back_up(product)
    await restore(product, saved.path)
    node = FilePresence(home_of(deck)).node_id
    rows = SqlDaemonRepository()
    listed = await product.memory.operations.store.read(lambda tx: rows.list(tx, node))
    assert listed == [product.daemons.daemon_id]


async def test_a_restore_lets_nobody_in_again_who_was_shut_out_since(deck: Deck) -> None:
    product = deck.quarterdeck

    async def states() -> dict[str, str]:
        listed = await product.calls.serve(Call("cli", "cli.token.list", {}), product.tokens.list)
        return {token.name: token.state for token in listed.tokens}

    for name in ("kept", "revoked"):
        made = partial(product.tokens.create, name, [Scope.READ], life=None)
        await product.calls.serve(Call("cli", "cli.token.create", {}), made)
    saved = await back_up(product)
    await product.calls.serve(
        Call("cli", "cli.token.revoke", {}), partial(product.tokens.revoke, "revoked")
    )
    await restore(product, saved.path)
    assert await states() == {"kept": "active", "revoked": "revoked"}
    assert "tokens" not in saved.contents.counts


async def test_a_backup_is_never_written_over(deck: Deck, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    target.write_text("precious", encoding="utf-8")
    with pytest.raises(Conflict, match="already"):
        await back_up(deck.quarterdeck, target)
    assert target.read_text(encoding="utf-8") == "precious"


async def test_a_folder_is_given_a_named_backup(deck: Deck, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    first, second = [await back_up(deck.quarterdeck, folder) for _ in range(2)]
    assert sorted(map(str, folder.iterdir())) == sorted([first.path, second.path])


async def test_a_place_that_cannot_be_written_to_is_reported_and_nothing_is_left(
    deck: Deck, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path / "file" / "a.zip", tmp_path / "nowhere" / "a.zip"):
        with pytest.raises(CannotWrite) as refused:
            await back_up(deck.quarterdeck, target)
        assert refused.value.details["place"] == str(target.parent)
    assert list((home_of(deck) / "backups").iterdir()) == []


async def test_restoring_a_file_that_is_not_there_is_not_found(deck: Deck, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await restore(deck.quarterdeck, tmp_path / "nowhere.zip")


async def test_a_read_only_server_backs_up_and_does_not_restore(
    tmp_path: Path, database_url: str | None
) -> None:
    settings = {"server.read_only": True}
    async with quarterdeck_for_tests(tmp_path, database_url, settings=settings) as deck:
        saved = await back_up(deck.quarterdeck)
        with pytest.raises(Denied):
            await restore(deck.quarterdeck, saved.path)


async def test_a_cancelled_backup_leaves_nothing(deck: Deck) -> None:
    product, home = deck.quarterdeck, home_of(deck)
    await store(product, "first")
    loop, started = asyncio.get_running_loop(), asyncio.Event()
    told: list[str] = []

    def tell(what: str, _done: int, _total: int) -> None:
        told.append(what)
        asyncio.run_coroutine_threadsafe(cancelled(), loop).result()

    async def cancelled() -> None:
        started.set()
        await asyncio.sleep(0)

    running = asyncio.create_task(
        product.calls.serve(
            Call("cli", "cli.backup", {}), lambda: product.archives.backup(None, tell)
        )
    )
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert set(told) == {"Copying the database"}
    assert list((home / "backups").iterdir()) == []


@pytest.mark.parametrize("direction", ["to postgres", "to sqlite"])
async def test_a_state_moves_between_the_databases(
    direction: str, tmp_path: Path, emptied_postgres: str
) -> None:
    urls = (None, emptied_postgres) if direction == "to postgres" else (emptied_postgres, None)
    async with quarterdeck_for_tests(tmp_path / "old", urls[0]) as old:
        for number in range(20):
            await store(old.quarterdeck, f"k{number}", f"word{number} shared")
        await store(old.quarterdeck, "k3", "another")
        traced = [trace.trace_id for trace in await root_traces(old)]
        saved = await back_up(old.quarterdeck)
    async with quarterdeck_for_tests(tmp_path / "new", urls[1]) as new:
        await restore(new.quarterdeck, saved.path)
        product = new.quarterdeck
        assert await keys(product) == [f"k{number}" for number in range(20)]
        assert await found(product, "another") == ["k3"]
        assert await found(product, "word3") == []
        assert len(await found(product, "shared")) == 10
        assert [trace.trace_id for trace in await root_traces(new)][1:] == traced
        await store(product, "later", "fresh")
        assert (await keys(product))[-1] == "later"
        assert await found(product, "fresh") == ["later"]
