"""What is said to an agent before its first task, and how a session begins."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from acp.schema import InitializeRequest, LoadSessionRequest, NewSessionRequest, PromptRequest

from quarterdeck.domain.agent_events import Noticed, UsedTool
from quarterdeck.domain.agent_log import LogLevel
from quarterdeck.domain.roles import Role
from quarterdeck.domain.tasks import StopReason
from quarterdeck.errors import AgentFailed
from quarterdeck.ports.runtime import Endpoint
from quarterdeck.testing.runtime_contract import RuntimeHarness
from tests.support import canned_agent
from tests.support.runtimes import LocalSite, scripted_role


class Canned:
    """A site whose agents answer from a list."""

    def __init__(self, site: LocalSite, folder: Path, **answers: dict[str, Any]) -> None:
        self._notes = folder / "notes.jsonl"
        self.command = (
            sys.executable,
            str(canned_agent.__file__),
            str(self._notes),
            json.dumps({name.replace("_", "/", 1): answer for name, answer in answers.items()}),
        )
        site.role = Role(id="r5", name="canned", command=self.command)

    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._notes.read_text(encoding="utf-8").splitlines()]

    def params(self, method: str) -> dict[str, Any]:
        """Return what the last message of this method carried."""
        return [m["params"] for m in self.messages() if m.get("method") == method][-1]


async def test_what_is_sent_is_what_the_protocol_says(site: LocalSite, tmp_path: Path) -> None:
    canned = Canned(site, tmp_path)
    async with site.harness() as local:
        spec = await local.started("formal")
        await local.run(spec, "hello")
        hello = InitializeRequest.model_validate(canned.params("initialize"))
        assert hello.protocol_version == 1
        assert hello.client_info
        assert hello.client_info.name == "quarterdeck"
        # Agents have their own ways to files and terminals, and are held to their workspace there.
        offered = canned.params("initialize")["clientCapabilities"]
        assert offered["fs"] == {"readTextFile": False, "writeTextFile": False}
        assert offered["terminal"] is False
        assert NewSessionRequest.model_validate(canned.params("session/new")).cwd == (
            spec.workspace.path
        )
        prompt = PromptRequest.model_validate(canned.params("session/prompt"))
        assert prompt.session_id == "s1"
        assert all(message["jsonrpc"] == "2.0" for message in canned.messages())


async def test_an_agent_of_another_version_is_refused(site: LocalSite, tmp_path: Path) -> None:
    Canned(site, tmp_path, initialize={"protocolVersion": 2})
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("newer")))
        assert isinstance(error, AgentFailed)
        assert "version 2" in error.message


async def test_an_answer_without_a_session_is_a_failure(site: LocalSite, tmp_path: Path) -> None:
    Canned(site, tmp_path, session_new={"session": "none"})
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("vague")))
        assert "sessionId" in error.message


async def test_an_agent_without_a_key_says_where_to_put_it(site: LocalSite, tmp_path: Path) -> None:
    refusal = {"error": {"code": -32000, "message": "Authentication required"}}
    canned = Canned(site, tmp_path, session_new=refusal)
    site.commands["claude"] = canned.command
    site.role = Role(id="r6", name="coder", agent="claude")
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("keyless")))
        assert "Authentication required" in error.message
        assert error.hint
        assert "ANTHROPIC_API_KEY" in error.hint


async def test_an_agent_that_only_names_the_key_it_misses_says_where_to_put_it_too(
    site: LocalSite, tmp_path: Path
) -> None:
    refusal = {"error": {"code": -32603, "message": "OPENAI_API_KEY is not set"}}
    canned = Canned(site, tmp_path, session_new=refusal)
    site.commands["codex"] = canned.command
    site.role = Role(id="r6", name="coder", agent="codex")
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("keyless")))
        assert error.hint
        assert "the file 'env'" in error.hint


async def test_our_own_endpoint_is_given_to_an_agent_that_takes_it(
    site: LocalSite, tmp_path: Path
) -> None:
    offers = {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}}
    canned = Canned(site, tmp_path, initialize=offers)
    async with site.harness() as local:
        endpoint = Endpoint("http://127.0.0.1:1/mcp", "not-a-real-token")
        await local.create(replace(await local.new_spec("linked"), endpoint=endpoint))
        (server,) = canned.params("session/new")["mcpServers"]
        assert server == {
            "type": "http",
            "name": "quarterdeck",
            "url": "http://127.0.0.1:1/mcp",
            "headers": [{"name": "Authorization", "value": "Bearer not-a-real-token"}],
        }


async def test_an_agent_that_takes_no_endpoint_works_without_it(
    site: LocalSite, tmp_path: Path
) -> None:
    canned = Canned(site, tmp_path)
    async with site.harness() as local:
        endpoint = Endpoint("http://127.0.0.1:1/mcp", "not-a-real-token")
        spec = replace(await local.new_spec("alone"), endpoint=endpoint)
        await local.create(spec)
        assert canned.params("session/new")["mcpServers"] == []
        assert "no tools of Quarterdeck" in _warning(local, spec.agent_id)


async def test_instructions_go_where_the_agent_takes_them(site: LocalSite, tmp_path: Path) -> None:
    canned = Canned(site, tmp_path)
    site.commands["claude"] = canned.command
    site.role = Role(id="r6", name="coder", agent="claude", system_prompt="Be kind.")
    async with site.harness() as local:
        spec = await local.started("kind")
        await local.run(spec, "hello")
        meta = canned.params("session/new")["_meta"]
        assert meta["systemPrompt"] == {"append": "Be kind."}
        assert "claudeCode" in meta
        assert canned.params("session/prompt")["prompt"][0]["text"] == "hello"


async def test_else_instructions_go_with_the_first_task_of_a_conversation(
    site: LocalSite,
) -> None:
    site.role = scripted_role(system_prompt="Be kind.")
    async with site.harness() as local:
        spec = await local.started("kind")
        await local.run(spec, "/say one")
        await local.run(spec, "/say two")
        await local.runtime.restart(spec, local.report)
        await local.run(spec, "/say three")
        assert local.listener.said(spec.agent_id).replace("\n", "|") == (
            "You said: Be kind.|onetwothree"
        )


def choices(*options: dict[str, Any]) -> dict[str, Any]:
    """Return a new session whose options each have two values, `plan` in a group."""
    values = [{"group": "g", "name": "G", "options": [{"value": "plan", "name": "Plan"}]}]
    return {
        "sessionId": "s1",
        "configOptions": [
            {"type": "select", "name": "X", "currentValue": "plan", "options": values, **option}
            for option in options
        ],
    }


async def test_a_mode_is_set_as_a_mode_or_as_an_option(site: LocalSite, tmp_path: Path) -> None:
    option = choices({"id": "strange"}, {"id": "how", "category": "mode"})
    canned = Canned(site, tmp_path, session_new=option)
    site.role = Role(id="r8", name="planner", command=canned.command, mode="plan")
    async with site.harness() as local:
        await local.started("planner")
        chosen = {"sessionId": "s1", "configId": "how", "value": "plan"}
        assert canned.params("session/set_config_option") == chosen
    site.role = scripted_role(mode="plan", model="scripted-large")
    async with site.harness() as local:
        spec = await local.started("planner")
        await local.run(spec, "mend the door")
        # In this mode the scripted agent only plans.
        events = local.listener.events[spec.agent_id]
        assert not any(isinstance(event, UsedTool) for event in events)


async def test_a_model_is_set_by_its_option(site: LocalSite, tmp_path: Path) -> None:
    canned = Canned(site, tmp_path, session_new=choices({"id": "model"}))
    site.role = Role(id="r8", name="planner", command=canned.command, model="plan")
    async with site.harness() as local:
        await local.started("planner")
        chosen = {"sessionId": "s1", "configId": "model", "value": "plan"}
        assert canned.params("session/set_config_option") == chosen


async def test_a_model_is_set_by_its_own_method_where_it_is_no_option(
    site: LocalSite, tmp_path: Path
) -> None:
    models = {"currentModelId": "small", "availableModels": [{"modelId": "large", "name": "L"}]}
    canned = Canned(site, tmp_path, session_new={"sessionId": "s1", "models": models})
    site.role = Role(id="r8", name="thinker", command=canned.command, model="large")
    async with site.harness() as local:
        await local.started("thinker")
        assert canned.params("session/set_model") == {"sessionId": "s1", "modelId": "large"}
    site.role = Role(id="r8", name="thinker", command=canned.command, model="huge")
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("thinker")))
        assert error.hint == "change the role's model; the agent offers: large"


async def test_a_mode_that_the_agent_does_not_have_is_refused(site: LocalSite) -> None:
    site.role = scripted_role(mode="bold")
    async with site.harness() as local:
        error = await local.failure(local.create(await local.new_spec("bold")))
        assert "no mode 'bold'" in error.message
        assert error.hint
        assert "default, plan" in error.hint
        assert local.left_running() == []


async def test_a_conversation_that_cannot_be_loaded_gives_way_to_a_new_one(
    local: RuntimeHarness,
) -> None:
    spec = replace(await local.new_spec("sony"), conversation="longgone")
    started = await local.create(spec)
    assert not started.resumed
    assert started.conversation != "longgone"
    assert "could not go on with its conversation" in _warning(local, spec.agent_id)


async def test_an_agent_that_only_claims_to_load_is_not_asked_to(
    site: LocalSite, tmp_path: Path
) -> None:
    offers = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
    canned = Canned(site, tmp_path, initialize=offers)
    for agent in ("gemini", "claude"):
        site.commands[agent] = canned.command
        site.role = Role(id="r7", name=agent, agent=agent)
        async with site.harness() as local:
            spec = replace(await local.new_spec(agent), conversation="earlier")
            assert (await local.create(spec)).resumed is (agent == "claude")
            if agent == "gemini":
                assert "begins a new one" in _warning(local, spec.agent_id)
    loads = [m["params"] for m in canned.messages() if m.get("method") == "session/load"]
    assert [LoadSessionRequest.model_validate(params).session_id for params in loads] == ["earlier"]


async def test_a_turn_that_ends_as_cancelled_though_nobody_cancelled_it(
    site: LocalSite, tmp_path: Path
) -> None:
    Canned(site, tmp_path, session_prompt={"stopReason": "cancelled"})
    async with site.harness() as local:
        spec = await local.started("moody")
        assert await local.run(spec, "hello") is StopReason.OTHER


async def test_a_stop_reason_that_nobody_knows_is_no_failure(
    site: LocalSite, tmp_path: Path
) -> None:
    Canned(site, tmp_path, session_prompt={"stopReason": "lunch", "usage": {"inputTokens": "x"}})
    async with site.harness() as local:
        spec = await local.started("hungry")
        assert await local.run(spec, "hello") is StopReason.OTHER


def _warning(harness: RuntimeHarness, agent_id: str) -> str:
    events = harness.listener.events[agent_id]
    (text,) = (e.text for e in events if isinstance(e, Noticed) and e.level is LogLevel.WARN)
    return text
