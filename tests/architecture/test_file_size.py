from tests.support.repository import ROOT

MOST_LINES = 500


def test_no_source_file_outgrows_one_subject() -> None:
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "src").rglob("*.py")
    }
    assert {name: lines for name, lines in sizes.items() if lines > MOST_LINES} == {}
