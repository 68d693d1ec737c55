"""What the pages of docs/ show is run, in order, and what they name exists."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from rota import rooms

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@cache
def run_page(page: Path) -> dict[str, object]:
    """Names after all blocks of a page have run in one namespace."""
    names: dict[str, object] = {}
    for number, block in enumerate(blocks(page, "python"), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_runs(page: Path) -> None:
    run_page(page)


def test_the_table_of_truncations_is_what_the_code_computes() -> None:
    page = ROOT / "docs" / "priors.md"
    table = run_page(page)["TABLE_5"]
    assert isinstance(table, dict)
    rows = re.findall(r"^\| ([\d.]+) h \| (\d+) \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == len(table) == 7
    for width, s, rest in rows:
        kept, change, full_width, asked = table[float(width), int(s)]
        written = [float(re.match(r"[\d.e-]+", cell)[0]) for cell in rest.split(" | ")]  # type: ignore[index]
        assert written[0] == pytest.approx(100 * kept, abs=0.05)
        assert written[1] == pytest.approx(change, rel=0.12)
        assert written[2] == pytest.approx(full_width, abs=0.006)
        assert written[3] == asked


def test_the_table_of_draws_is_the_stored_benchmark() -> None:
    stored = json.loads((ROOT / "benchmarks" / "results" / "sampling.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "priors.md").read_text(encoding="utf-8")
    assert f"{stored['heads']} heads of 32" in page
    assert f"{stored['seeds']} seeds, as" in page
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    measured = stored["rmse"]["wrapped_gaussian(24h, 2h)"]
    assert rows.keys() == measured.keys()
    for method, cells in rows.items():
        found = [measured[method][pairs]["head"] for pairs in ("8", "16", "32", "64")]
        found.append(measured[method]["32"]["heads_together"])
        assert [float(cell) for cell in cells.split(" | ")] == pytest.approx(found, abs=6e-4), method


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_links_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target
    for line in "\n".join(blocks(page, "console")).splitlines():
        if line.startswith("rota "):
            assert line.split()[1] in rooms.names("commands"), line
    for path in re.findall(r"`((?:scripts|benchmarks)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
