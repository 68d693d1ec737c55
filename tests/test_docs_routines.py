"""The page of routines says what the kept files say."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmark_scripts import benchmark

PAGE = (Path(__file__).parent.parent / "docs" / "routines.md").read_text(encoding="utf-8")
HOUR = 3600


@pytest.mark.parametrize(
    ("mark", "section"), [("regularity", "regularity_section"), ("own periods", "period_section")]
)
def test_the_tables_of_own_priors_are_what_is_kept(
    mark: str, section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    personal = benchmark("personal", monkeypatch)
    (written,) = re.findall(rf"<!-- {mark} -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)
    assert written == getattr(personal, section)(json.loads(personal.RESULT.read_text(encoding="utf-8")))


def test_what_is_said_of_the_town_is_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = json.loads(benchmark("personal", monkeypatch).RESULT.read_text(encoding="utf-8"))
    found = kept["town"]["period"]
    whole = {who: sum(kinds.values()) for who, kinds in found["people"].items()}
    daily, weekly, aimless = (found["people"][who] for who in ("daily", "weekly", "aimless"))
    for said in (
        f"36 h to {found['shifts_found']} of {whole['shifts']} shift workers",
        f"a day to {daily['24h']} of {whole['daily']} people",
        f"a week to {weekly['7d']} of {whole['weekly']} with",
        f"a period to {whole['aimless'] - aimless['none']} of {whole['aimless']} without",
    ):
        assert said in PAGE


def test_the_period_of_a_person_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = benchmark("own_periods", monkeypatch)
    rng = np.random.default_rng(0)
    items = np.tile(np.arange(3), 40)
    shifts = np.repeat(np.arange(40), 3) * 36 * HOUR + np.tile([0, 7, 20], 40) * HOUR
    shifts += rng.integers(-1800, 1800, 120)
    days = np.repeat(np.arange(60), 2) * 24 * HOUR + np.tile([0, 9 * HOUR], 60)
    times = np.concatenate([shifts, days, shifts])
    labels = np.concatenate([items, np.tile([0, 1], 60), rng.permutation(items)])
    rows = list(np.arange(360).reshape(3, 120))
    found = own.own_periods(times, labels, rows, sure=True)
    assert own.alike(found, np.array([36.0 * HOUR, 24 * HOUR, np.nan])).tolist() == [True, True, False]
    assert own.kinds_of(found).tolist() == [2, 0, 3]
