import re
from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from rota.errors import InputError
from rota.plots import TableRow, comparison_table

METRICS = ["HR@1", "HR@10", "NDCG@10", "MRR"]


def row(
    arm: str,
    mrr: float,
    interval: tuple[float, float, float] | None = None,
    kind: str = "trained",
    hr10: float = 0.8,
) -> TableRow:
    means = {"HR@1": mrr - 0.1, "HR@10": hr10, "NDCG@10": 0.6, "MRR": mrr}
    return TableRow(arm, kind, 2, means, None if interval is None else {"MRR": interval})  # type: ignore[arg-type]


ROWS = [
    row("frequency", 0.9, (-0.05, -0.06, -0.04), "untrained"),
    row("none", 0.5861, (0.0031, -0.0041, 0.0101)),
    row("rope", 0.5831),
    row("rope+clockrope", 0.6482, (0.0651, 0.0553, 0.0752)),
    row("trope", 0.5652, (-0.0179, -0.0271, -0.0087)),
    row("torope", 0.5652, (-0.0179, -0.0371, 0.0007), hr10=0.8001),
]


def render(table: Table, width: int = 80, *, styles: bool = False) -> str:
    console = Console(
        file=StringIO(),
        record=True,
        width=width,
        force_terminal=True,
        color_system="standard",
        no_color=False,
    )
    console.print(table)
    return console.export_text(styles=styles)


def made(rows: list[TableRow] = ROWS, title: str = "flights [year]") -> Table:
    return comparison_table(rows, control="rope", title=title, metrics=METRICS)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_nothing_is_cut_at_a_terminals_width(width: int) -> None:
    text = render(made(), width)
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 76
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert lines["arm"] == ["arm", "seeds", *METRICS, "MRR", "vs", "rope"]
    assert lines["none"] == ["none", "2", ".486", ".800", ".600", ".586", "+.003", "[-.004,", "+.010]"]
    assert lines["rope"] == ["rope", "2", ".483", ".800", ".600", ".583", "control"]
    assert lines["rope+clockrope"][5:] == [".648", "+.065", "[+.055,", "+.075]*"]
    assert lines["trope"][5:] == [".565", "-.018", "[-.027,", "-.009]*"]
    assert lines["frequency"] == ["frequency", ".800", ".800", ".600", ".900", "-.050", "[-.060,", "-.040]*"]


def test_a_long_arm_is_parted_where_its_encodings_are() -> None:
    text = render(made([*ROWS, row("rope+clockrope-measured", 0.6, (0.02, 0.01, 0.03))]))
    first = next(line for line in text.splitlines() if line.split()[:1] == ["rope+"])
    assert first.split()[1] == "2"
    assert "clockrope-measured" in [line.strip() for line in text.splitlines()]


def test_untrained_baselines_stand_below_in_their_own_section() -> None:
    order = re.findall(r"^ *(none|trope|untrained|frequency)\b", render(made()), re.MULTILINE)
    assert order == ["none", "trope", "untrained", "frequency"]
    assert "untrained" not in render(made(ROWS[1:]))


def test_title_and_caption_say_what_is_compared_and_what_the_interval_is() -> None:
    text = re.sub(r"\s+", " ", render(made()))
    assert "flights [year]" in text
    assert "paired difference in MRR from rope, with its 95 % bootstrap interval over users" in text


def test_colour_only_where_the_interval_excludes_zero_and_bold_for_the_best_trained_arm() -> None:
    styled = {
        line.split("\x1b")[0].split()[0]: line
        for line in render(made(), styles=True).splitlines()
        if re.match(r" *[a-z]", line)
    }
    assert "\x1b[32m+.065" in styled["rope+clockrope"]
    assert "\x1b[31m-.018" in styled["trope"]
    assert "\x1b[3" not in styled["none"] + styled["torope"]
    assert "\x1b[1m.648" in styled["rope+clockrope"]
    assert "\x1b[1m.586" not in styled["none"]
    assert "\x1b[1m.800" in styled["none"]  # a tie: every trained arm has it
    assert "\x1b[1m" not in styled["frequency"]


def test_values_from_one_keep_their_digit() -> None:
    assert "1.000" in render(made([row("rope", 1.0)]))


def test_an_absent_control_or_metric_is_refused() -> None:
    with pytest.raises(InputError, match="control 'no': expected one of frequency, none"):
        comparison_table(ROWS, control="no", title="", metrics=METRICS)
    with pytest.raises(InputError, match="arm 'frequency' has no 'HR@5': it has HR@1"):
        comparison_table(ROWS, control="rope", title="", metrics=["HR@5"])
