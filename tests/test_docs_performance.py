"""The page of performance says what the kept files say."""

import json
import re
from pathlib import Path

import pytest

from benchmark_scripts import benchmark

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
TABLES = dict(re.findall(r"<!-- (\w+) -->\n(.*?)\n?<!-- end -->", PAGE, re.DOTALL))
SCRIPTS = {
    "evaluation": "evaluation",
    "pairs": "routines",
    "training": "training",
    "profile": "profile_training",
}


def test_each_table_has_its_place() -> None:
    assert TABLES.keys() == SCRIPTS.keys()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_table_is_what_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = benchmark(SCRIPTS[name], monkeypatch)
    if not module.RESULT.is_file():
        assert TABLES[name].startswith("Not measured yet")
        return
    assert TABLES[name] == module.section(json.loads(module.RESULT.read_text(encoding="utf-8")))


def test_the_table_of_training_has_a_row_for_each_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    def side(targets: int, *seconds: float) -> list[dict[str, object]]:
        return [{"targets": targets, "seconds": list(seconds)}]

    circumstances = {"processor": "a processor", "commit": "abc"}
    pairs = {
        "one": {"threads": 2, "circumstances": circumstances, "measured": {"rota": side(100, 1.0, 2.0, 4.0)}},
        "two": {
            "threads": 2,
            "circumstances": circumstances,
            "measured": {"rota": side(100, 1.0), "A": side(100, 2.0), "B": side(50, 5.0)},
        },
    }
    lines = benchmark("training", monkeypatch).section({"pairs": pairs}).splitlines()
    assert lines[0].endswith("a processor; `abc`.")
    assert lines[4:] == [
        "| one | 2 | 50 | 25 |  |  |  |",
        "| two | 2 | 100 | 100 | A | 50 | 2.0 |",
        "| two | 2 | 100 | 100 | B | 10 | 10.0 |",
    ]
