import pytest

from quarterdeck.domain.archive import is_home_file


@pytest.mark.parametrize(
    "name",
    ["config.toml", "metadata.yaml", "env", "policies/a.yaml", "workflows/deep/er/ä b.yawl"],
)
def test_files_that_are_state_belong_in_an_archive(name: str) -> None:
    assert is_home_file(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "token",
        "node",
        "quarterdeck.db",
        "run/x.lock",
        "policies",
        "policies/",
        "policies//a",
        "policies/../config.toml",
        "policies/./a",
        "../config.toml",
        "/etc/passwd",
        "policies/a\\b",
        "policies/a\x00b",
        "policies/a\nb",
        "policies/" + "x" * 300,
        "policies/" + "/".join("d" * 40),
        "Config.toml",
        "env/x",
    ],
)
def test_nothing_else_does(name: str) -> None:
    assert not is_home_file(name)
