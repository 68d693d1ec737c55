"""The table of slices: what is shown, what is dashed, and that it fits a terminal."""

import math
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from rota.errors import InputError
from rota.evaluation import PairedDifference, Sliced, SlicedRow
from rota.plots import slices_table

METRICS = ("HR@1", "HR@10", "NDCG@10", "MRR")


def row(
    label: str, mrr: float, diff: tuple[float, float, float] | None = None, users: int = 1234, each: int = 1
) -> SlicedRow:
    means = {"HR@1": mrr / 2, "HR@10": 1.0 if users else math.nan, "NDCG@10": mrr, "MRR": mrr}
    paired = None if diff is None else {"MRR": PairedDifference(*diff)}
    return SlicedRow(label, users, users * each, users * each, means, paired)


FOUND = Sliced(
    "gap",
    METRICS,
    (
        row("under 1h", 0.0521, (0.0314, 0.0101, 0.0502)),
        row("1h to 6h", 0.3049, (-0.002, -0.01, 0.006)),
        row("6h to [24h]", 0.41, (-0.0314, -0.05, -0.01)),
        row("7d or more", math.nan, users=0),
    ),
    row("all", 0.25, (0.0, 0.0, 0.0), 12_345),
)


def lines(table: Table, width: int = 80, *, styles: bool = False) -> dict[str, str]:
    console = Console(file=StringIO(), record=True, width=width, force_terminal=True, color_system="standard",
                      no_color=False)  # fmt: skip
    console.print(table)
    return {
        line.split("  ")[0].strip(): line for line in console.export_text(styles=styles).splitlines() if line
    }


def test_figures_and_dashes() -> None:
    shown = lines(slices_table(FOUND, title="rope [x]", control="none"))
    cells = {label: line.split() for label, line in shown.items()}
    assert cells["gap"] == ["gap", "users", *METRICS, "MRR", "vs", "none"]
    assert cells["under 1h"][2:] == ["1,234", ".026", "1.000", ".052", ".052", "+.031", "[+.010,", "+.050]*"]
    assert cells["1h to 6h"][-3:] == ["-.002", "[-.010,", "+.006]"]
    assert cells["6h to [24h]"][-1] == "-.010]*"
    assert cells["7d or more"] == ["7d", "or", "more", "0", "-", "-", "-", "-", "-"]
    assert cells["all"][1] == "12,345"
    assert "rope [x]" in shown
    assert max(len(line.rstrip()) for line in shown.values()) <= 80
    assert not any("…" in line for line in shown.values())


def test_questions_are_counted_where_users_have_several() -> None:
    rolling = replace(FOUND, whole=row("all", 0.25, users=12_345, each=2))
    cells = {label: line.split() for label, line in lines(slices_table(rolling, title="rope")).items()}
    assert cells["gap"] == ["gap", "users", "questions", *METRICS]
    assert cells["all"] == ["all", "12,345", "24,690", ".125", "1.000", ".250", ".250"]


def test_without_a_control_there_is_no_difference() -> None:
    cells = {label: line.split() for label, line in lines(slices_table(FOUND, title="rope")).items()}
    assert cells["gap"] == ["gap", "users", *METRICS]
    assert cells["all"] == ["all", "12,345", ".125", "1.000", ".250", ".250"]


def test_better_is_green_and_worse_is_red() -> None:
    shown = "\n".join(lines(slices_table(FOUND, title="rope", control="none"), styles=True).values())
    assert "\x1b[32m+.031" in shown
    assert "\x1b[31m-.031" in shown
    assert "m-.002" not in shown


def test_a_headline_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="headline 'MAP': expected one of HR@1, HR@10, NDCG@10, MRR"):
        slices_table(FOUND, title="rope", control="none", headline="MAP")
