"""Agents that misbehave: what is told of it, and that nothing of theirs is left."""

import asyncio
import sys
import tracemalloc
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import anyio
import psutil
import pytest

from quarterdeck.domain.agent_events import AgentEvent, Noticed, Said
from quarterdeck.domain.agent_log import LogLevel
from quarterdeck.domain.questions import OptionKind
from quarterdeck.domain.roles import Role
from quarterdeck.domain.tasks import StopReason
from quarterdeck.errors import AgentFailed
from quarterdeck.repositories.runtimes.patience import Patience
from quarterdeck.testing.runtime_contract import RuntimeHarness
from tests.support import example_agent
from tests.support.runtimes import SCRIPTED, LocalSite, eventually, marked, scripted_role

MIB = 2**20
IMPATIENT = Patience(
    handshake_seconds=0.3, session_seconds=0.3, good_order_seconds=0.3, signal_seconds=0.2
)


def after(shell: str) -> Role:
    """Return a role whose agent runs a shell command before anything else."""
    command = ("/bin/sh", "-c", f'{shell}; exec "$@"', "sh", *SCRIPTED)
    return Role(id="r3", name="odd", command=command)


def warnings(harness: RuntimeHarness, agent_id: str) -> list[str]:
    events = harness.listener.events[agent_id]
    return [e.text for e in events if isinstance(e, Noticed) and e.level is LogLevel.WARN]


async def test_an_agent_that_never_answers_is_given_up(site: LocalSite) -> None:
    site.role, site.patience = scripted_role("--silent"), IMPATIENT
    async with site.harness() as local:
        spec = await local.new_spec("mute")
        error = await local.failure(local.create(spec))
        assert isinstance(error, AgentFailed)
        assert "no answer to the handshake within 0.3 s" in error.message
        assert local.left_running() == []
        assert not local.runtime.is_running(spec.agent_id)
        assert local.listener.ends == []


async def test_a_create_that_is_cancelled_in_the_handshake_leaves_no_process(
    site: LocalSite,
) -> None:
    site.role = scripted_role("--silent")
    async with site.harness() as local:
        creating = asyncio.create_task(local.create(await local.new_spec("mute")))
        await eventually(local.left_running)
        creating.cancel()
        with suppress(asyncio.CancelledError):
            await creating
        assert local.left_running() == []


async def test_an_agent_that_ends_at_once_fails_with_its_exit_code(site: LocalSite) -> None:
    site.role = scripted_role("--exit", "4")
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("brief")))
        assert "exit code 4" in error.message
        assert local.listener.ends == []


async def test_a_program_that_is_not_there_fails_with_its_name(site: LocalSite) -> None:
    site.role = Role(id="r4", name="none", command=("/no/such/program",))
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("none")))
        assert isinstance(error, AgentFailed)
        assert "/no/such/program" in error.message


async def test_a_crash_comes_with_the_exit_code_and_the_last_words(local: RuntimeHarness) -> None:
    spec = await local.started()
    error = await local.failure(local.run(spec, "/stderr the disk is on fire", "/crash 3"))
    assert "exit code 3" in error.message
    assert "the disk is on fire" in error.message


async def test_the_last_words_of_an_earlier_process_are_not_told_again(
    local: RuntimeHarness,
) -> None:
    spec = await local.started()
    await local.failure(local.run(spec, "/stderr first words", "/crash 3"))
    await local.runtime.restart(spec, local.report)
    error = await local.failure(local.run(spec, "/stderr second words", "/crash 3"))
    assert "second words" in error.message
    assert "first words" not in error.message


async def test_an_idle_agent_that_is_killed_is_reported(
    site: LocalSite, local: RuntimeHarness
) -> None:
    spec = await local.started()
    (pid,) = marked(site.node)()
    psutil.Process(pid).kill()
    await local.listener.until(lambda: bool(local.listener.ends))
    assert local.listener.ends == [(spec.agent_id, "its process was ended by SIGKILL")]
    assert not local.runtime.is_running(spec.agent_id)


@pytest.mark.parametrize("end", ["/crash 1", "/say stopped by hand"])
async def test_what_an_agent_started_in_a_session_of_its_own_ends_with_it(
    local: RuntimeHarness, end: str
) -> None:
    spec = await local.started()
    with suppress(AgentFailed):
        await local.run(spec, "/orphan pid", end)
    await local.runtime.stop(spec.agent_id)
    if "crash" in end:
        await local.listener.until(lambda: bool(local.listener.ends))
    pid = int(local.listener.said(spec.agent_id).split()[1])
    assert not psutil.pid_exists(pid)
    assert local.left_running() == []


async def test_an_agent_that_ends_for_no_signal_is_killed(site: LocalSite) -> None:
    site.role, site.patience = scripted_role("--stubborn"), replace(IMPATIENT, handshake_seconds=20)
    async with site.harness() as local:
        spec = await local.started("stubborn")
        await local.runtime.stop(spec.agent_id)
        assert local.left_running() == []
        assert local.listener.ends == []


async def test_an_agent_that_ignores_a_cancel_can_be_stopped(local: RuntimeHarness) -> None:
    spec = await local.started()
    task = local.begin(spec, "/ignore-cancel", "/say begun", "/hang")
    await local.listener.until(lambda: local.listener.said(spec.agent_id) == "begun")
    await local.runtime.interrupt(spec.agent_id)
    assert local.runtime.is_running(spec.agent_id)
    assert not task.done()
    await local.runtime.stop(spec.agent_id)
    with suppress(AgentFailed):
        assert await task is StopReason.CANCELLED
    assert local.left_running() == []


async def test_lines_that_are_no_messages_are_reported_and_skipped(site: LocalSite) -> None:
    site.role = after("yes 'no message' | head -n 1000; printf '[1]\\n\\377\\n{\"id\":9}\\n'")
    async with site.harness() as local:
        spec = await local.started("chatty")
        assert await local.run(spec, "/say fine") is StopReason.END_TURN
        assert local.listener.said(spec.agent_id) == "fine"
        assert warnings(local, spec.agent_id) == [
            "Skipped a line that is no message: no message",
            "Skipped and 1001 more of that kind",
        ]


async def test_what_is_not_offered_is_refused_and_reported(site: LocalSite) -> None:
    request = '{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{}}'
    site.role = after(f"echo '{request}'")
    async with site.harness() as local:
        spec = await local.started("curious")
        assert await local.run(spec, "/say fine") is StopReason.END_TURN
        asked = Noticed("Asked for fs/read_text_file, which is not offered")
        assert asked in local.listener.events[spec.agent_id]


async def test_an_agent_that_gives_up_after_a_refusal_was_not_cancelled(site: LocalSite) -> None:
    site.role = Role(id="r5", name="strict", command=(sys.executable, str(example_agent.__file__)))
    async with site.harness() as local:
        spec = await local.started("strict")
        local.listener.answer = OptionKind.REJECT_ONCE
        ended = await local.run(spec, "/insist delete everything")
        assert ended is StopReason.PERMISSION_REFUSED


async def test_one_line_that_is_too_long_is_skipped(local: RuntimeHarness) -> None:
    spec = await local.started()
    assert await local.run(spec, f"/big {20 * MIB}", "/say after it") is StopReason.END_TURN
    assert local.listener.said(spec.agent_id) == "after it"
    (warning,) = warnings(local, spec.agent_id)
    assert "too long" in warning


async def test_a_long_line_below_the_limit_is_heard_whole(local: RuntimeHarness) -> None:
    spec = await local.started()
    assert await local.run(spec, f"/big {15 * MIB}") is StopReason.END_TURN
    assert len(local.listener.said(spec.agent_id)) == 15 * MIB


async def test_a_flood_is_held_back_and_disturbs_no_other_agent(
    local: RuntimeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, other = await local.started("held"), await local.started("other")
    sizes: Counter[str] = Counter()
    may_go_on = anyio.Event()

    async def listen(agent_id: str, event: AgentEvent) -> None:
        if isinstance(event, Said):
            sizes[agent_id] += len(event.text)
        if agent_id == held.agent_id:
            await may_go_on.wait()

    monkeypatch.setattr(local.listener, "heard", listen)
    tracemalloc.start()
    try:
        task = local.begin(held, f"/flood {50 * MIB}")
        # As much of another agent passes by; what the first has written meanwhile is in its pipe.
        assert await local.run(other, f"/flood {50 * MIB}") is StopReason.END_TURN
        assert not task.done()
        assert sizes[held.agent_id] <= MIB
        may_go_on.set()
        assert await task is StopReason.END_TURN
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sizes == {held.agent_id: 50 * MIB, other.agent_id: 50 * MIB}
    assert most < 8 * MIB


async def test_what_an_agent_writes_to_stderr_neither_blocks_it_nor_fills_the_disk(
    site: LocalSite,
) -> None:
    site.role = after("yes 'what a day' | head -c 9000000 >&2")
    async with site.harness() as local:
        spec = await local.started("loud")
        folder = site.home / "logs" / "agents"
        assert (folder / f"{spec.agent_id}.stderr").stat().st_size == 9_000_000
        await local.runtime.restart(spec, local.report)
        sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
        assert sizes == {
            f"{spec.agent_id}.stderr": 9_000_000,
            f"{spec.agent_id}.stderr.1": 256 * 1024,
        }
        await local.runtime.delete(spec)
        assert list(folder.iterdir()) == []


async def test_what_an_earlier_daemon_left_running_is_ended_at_the_start(site: LocalSite) -> None:
    async with site.harness() as local:
        spec = await local.started()
        await local.run(spec, "/orphan pid")
        # As after a crash: another runtime of the same node begins while these still run.
        async with site.harness() as later:
            assert later.left_running() == []
