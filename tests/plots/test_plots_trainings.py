"""The table of trainings: each state in words, legible at 80 columns, no higher than there is room for."""

from io import StringIO

from rich.console import Console
from rich.table import Table

from rota.plots import TrainingRow, trainings_table

DONE = TrainingRow("rope", 0, None, (0.2, 0.312, 0.3), 1, 0.287)
BEFORE = TrainingRow("none", 1, None, (0.2,), 0, 0.25, True)
RUNS = TrainingRow("hstu:rope+clockrope+timestamp_embedding+repeat", 12, 2.4, (0.2, 0.301))
STARTS = TrainingRow("[bold]trope[/]", 3, 0.0)
FAILED = TrainingRow("sasrec", 2, None, (0.2, 0.1), failed=True)
WAITS = TrainingRow("trope", 4)


def printed(table: Table, width: int = 80) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(table)
    return out.getvalue().splitlines()


def lines(rows: list[TrainingRow], most: int | None = None) -> list[str]:
    return printed(trainings_table(rows, epochs=8, caption="3 of 5 done; about 4 min left", most=most))


def words(rows: list[TrainingRow], name: str) -> list[str]:
    (line,) = [line for line in lines(rows) if line.split()[:1] == [name]]
    return line.split()


def test_each_state_is_told() -> None:
    rows = [DONE, BEFORE, RUNS, STARTS, WAITS]
    assert " ".join(words(rows, "rope")) == "rope 0 ✓ done best 2 of 3 0.312 0.287"
    assert " ".join(words(rows, "none")) == "none 1 ✓ done before best 1 of 1 0.200 0.250"
    assert words(rows, "trope") == ["trope", "4", "waiting"]
    assert words(rows, "[bold]trope[/]")[1:] == ["3", "1", "of", "8"]
    assert " ".join(words([DONE, FAILED], "sasrec")) == "sasrec 2 ✗ failed in 3 of 8 0.100"
    (line,) = [line for line in lines(rows) if line.split()[0:1] and line.split()[0].startswith("hstu:")]
    assert line.split()[-4:] == ["3", "of", "8", "0.301"]
    assert "3 of 5 done; about 4 min left" in lines(rows)[-1]


def test_it_is_no_wider_than_a_terminal() -> None:
    assert max(map(len, lines([DONE, BEFORE, RUNS, STARTS, WAITS]))) <= 80


def test_in_the_last_epoch_it_says_no_more_than_there_are() -> None:
    assert "8 of 8" in " ".join(words([TrainingRow("a", 0, 8.0, (0.1,) * 7)], "a"))


def many() -> list[TrainingRow]:
    done = [TrainingRow(f"d{at}", 0, None, (0.2,), 0, 0.3) for at in range(10)]
    return done + [TrainingRow(f"r{at}", 0, 1.5, (0.2,)) for at in range(3)] + [
        TrainingRow(f"w{at}", 0) for at in range(10)
    ]  # fmt: skip


def test_where_room_is_short_what_runs_comes_first() -> None:
    shown = [line.split()[0] for line in lines(many(), most=11) if " 0 " in line]
    assert [name for name in shown if name[0] == "r"] == ["r0", "r1", "r2"]
    assert [name for name in shown if name[0] == "d"] == ["d5", "d6", "d7", "d8", "d9"]
    assert [name for name in shown if name[0] == "w"] == ["w0", "w1"]
    assert any(line.strip() == "and 13 more" for line in lines(many(), most=11))
    rows = [line for line in lines(many(), most=11) if " 0 " in line or "more" in line]
    assert len(rows) == 11


def test_with_room_for_all_all_are_there() -> None:
    assert not any("more" in line for line in lines(many(), most=23))
    assert not any("more" in line for line in lines(many()))
    assert any("and 23 more" in line for line in lines(many()[:2] * 13, most=-3))
