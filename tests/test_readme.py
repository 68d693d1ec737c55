"""What the README shows is run, and what it names exists."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_a_clock_in_ones_own_model() -> None:
    names: dict[str, object] = {}
    exec(compile(EXAMPLES[0], "README.md", "exec"), names)
    out = names["out"]
    assert out.shape == (4, 8, 100, 64)
    assert out.isfinite().all()


@pytest.mark.slow
def test_a_comparison_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        (user, f"v{(user + 3 * day) % 7}", 1_700_000_000 + 86_400 * day + 60 * user)
        for user in range(20)
        for day in range(9)
    ]
    pd.DataFrame(rows, columns=["user", "venue", "time"]).to_csv("checkins.csv", index=False)
    exec(compile(EXAMPLES[1], "README.md", "exec"), {})
    assert {path.name for path in Path("results").iterdir()} >= {
        "results.json",
        "ranks.parquet",
        "attention.png",
    }


def test_what_it_links_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_room_is_on_the_map() -> None:
    rooms = {path.stem for path in (ROOT / "src" / "rota").iterdir() if path.suffix in ("", ".py")}
    for room in rooms - {"__init__", "__main__", "__pycache__", "py"}:
        assert f"`{room}" in README, room
