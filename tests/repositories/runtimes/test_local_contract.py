import pytest

from quarterdeck.testing.runtime_contract import RuntimeContract, RuntimeHarness


class TestLocalRuntime(RuntimeContract):
    @pytest.fixture
    def harness(self, local: RuntimeHarness) -> RuntimeHarness:
        return local
