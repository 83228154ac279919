import sys
from collections.abc import AsyncGenerator

import pytest

from quarterdeck.domain.roles import Role
from quarterdeck.testing.runtime_contract import RuntimeContract, RuntimeHarness
from tests.support import example_agent
from tests.support.runtimes import LocalSite


class TestScriptedAgent(RuntimeContract):
    @pytest.fixture
    def harness(self, local: RuntimeHarness) -> RuntimeHarness:
        return local


class TestAgentOfTheProtocolsOwnPackage(RuntimeContract):
    @pytest.fixture
    async def harness(self, site: LocalSite) -> AsyncGenerator[RuntimeHarness]:
        command = (sys.executable, str(example_agent.__file__))
        site.role = Role(id="r2", name="example", command=command)
        async with site.harness() as harness:
            harness.resumes = False
            yield harness
