import uuid
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from quarterdeck.domain.projects import Project
from quarterdeck.ports.runtime import AgentSpec
from quarterdeck.testing.fake_runtime import FakeRuntime
from quarterdeck.testing.runtime_contract import RuntimeContract, RuntimeHarness
from quarterdeck.testing.runtime_listener import RecordingListener
from tests.support.runtimes import scripted_role


class TestFakeRuntime(RuntimeContract):
    @pytest.fixture(params=[True, False], ids=["resumes", "forgets"])
    async def harness(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncGenerator[RuntimeHarness]:
        project, role = Project(id="p1", name="Setup", folder=tmp_path), scripted_role()
        runtime, listener = FakeRuntime(resumes=request.param), RecordingListener()

        async def new_spec(name: str) -> AgentSpec:
            agent_id = uuid.uuid4().hex
            workspace = await runtime.plan(agent_id, name, project, role)
            return AgentSpec(agent_id, name, workspace, project, role)

        await runtime.open(listener)
        yield RuntimeHarness(runtime, listener, new_spec, lambda: (), resumes=request.param)
        await runtime.close()
