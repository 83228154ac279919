import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import REQUIREMENTS, requirement

TESTS = Path(__file__).parent


def test_every_requirement_is_named_by_a_test() -> None:
    named = {id_ for _, id_ in ids_in_tests()}
    assert sorted(REQUIREMENTS.keys() - named) == []


def test_tests_name_known_requirements_only() -> None:
    unknown = [place for place, id_ in ids_in_tests() if id_ not in REQUIREMENTS]
    assert unknown == []


def test_the_scan_reads_every_way_of_naming_a_requirement() -> None:
    source = '@requirement("A", "B")\ndef test_x(): ...\npytestmark = pytest.mark.requirement("C")'
    assert [id_ for _, id_ in ids_in(source)] == ["A", "B", "C"]


def test_the_decorator_leaves_the_ids_on_the_test() -> None:
    assert requirement("INV-MCP-007", "INV-MCP-008").args == ("INV-MCP-007", "INV-MCP-008")


def ids_in_tests() -> Iterator[tuple[str, str]]:
    """Yield place and id; read from the source, so that deselected tests count too."""
    for path in sorted(TESTS.rglob("test_*.py")):
        if path == Path(__file__):
            continue
        for line, id_ in ids_in(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(TESTS)}:{line} {id_}", id_


def ids_in(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and called_name(node) == "requirement":
            for argument in node.args:
                yield node.lineno, str(ast.literal_eval(argument))


def called_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
