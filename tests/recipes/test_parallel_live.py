"""What a person sees of a comparison: a table in a terminal, and plain lines where there is none."""

import re
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import torch
from rich.console import Console

from rota.data.reading import read_log
from rota.evaluation.run import Run
from rota.recipes import live
from rota.recipes.live import LiveWatcher
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question, ask_of
from rota.training.progress import Fitted, Progress
from rota.training.recipe import Training
from town import columns, town

PLAN = Plan(("none", "rope"), seeds=2, protocol=Protocol(training=Training(epochs=4)))
FITTED = Fitted((0.2, 0.31, 0.3), 1)


@pytest.fixture(scope="module")
def question() -> Question:
    return ask_of(read_log(pa.table(columns(town(12, 5))), user="user", item="item", time="when"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands until it is set."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(live.time, "monotonic", lambda: now.seconds)
    return now


def run(question: Question, arm: str, seed: int, rank: int) -> Run:
    return Run(arm, seed, np.full(len(question.stages.test.users), rank, np.int64), FITTED.validation)


def progress(epoch: int, step: int, *validation: float) -> Progress:
    return Progress(epoch, step, 10, torch.tensor(1.0), validation)


def console(terminal: bool, height: int = 30) -> Console:
    return Console(file=StringIO(), width=80, height=height, force_terminal=terminal, color_system=None)


def go_through(watcher: LiveWatcher, question: Question, clock: SimpleNamespace) -> None:
    """One was done before, one is done in 40 seconds, one is in its second epoch, one waits."""
    watcher.begin(question, PLAN, 2)
    watcher.found(run(question, "none", 0, 4), FITTED)
    watcher.start("none", 1)
    watcher.start("rope", 0)
    clock.seconds = 120.0
    watcher.step("rope", 0, progress(1, 10, 0.25))
    clock.seconds = 130.0
    watcher.finish(run(question, "none", 1, 2), FITTED)


def table(watcher: LiveWatcher, shown: Console) -> str:
    with shown.capture() as captured:
        shown.print(watcher._table())
    return captured.get()


def test_a_terminal_has_a_row_for_each_training_and_how_long_is_left(
    question: Question, clock: SimpleNamespace
) -> None:
    shown = console(terminal=True)
    with LiveWatcher(shown) as watcher:
        go_through(watcher, question, clock)
        picture = table(watcher, shown)
    rows = [" ".join(re.sub("[━╸╺]", "", line).split()) for line in picture.splitlines()]
    assert "none 0 ✓ done before best 2 of 3 0.310 0.250" in rows
    assert "none 1 ✓ done best 2 of 3 0.310 0.500" in rows
    assert "rope 0 3 of 4 0.250" in rows
    assert "rope 1 waiting" in rows
    # Rope has taken 30 seconds for two epochs; one more is ahead, and three of its second training.
    assert "2 of 4 done, 2 at once; about 45 s left" in rows
    assert max(map(len, picture.splitlines())) <= 80


def test_the_table_stays_with_every_row_and_says_that_it_was_interrupted(
    question: Question, clock: SimpleNamespace
) -> None:
    shown = console(terminal=True, height=11)
    with LiveWatcher(shown) as watcher:
        go_through(watcher, question, clock)
        assert "more" not in table(watcher, shown)
    file = shown.file
    assert isinstance(file, StringIO)
    last = file.getvalue()[file.getvalue().rindex("training ") :]
    assert re.search(r"rope +1 +waiting", last)
    assert "2 of 4 done, 2 at once; interrupted" in last
    assert "left" not in last


def test_one_that_failed_is_shown_and_no_time_is_left_for_it(
    question: Question, clock: SimpleNamespace
) -> None:
    shown = console(terminal=True)
    with LiveWatcher(shown) as watcher:
        go_through(watcher, question, clock)
        watcher.fail("rope", 0, "arm rope, seed 0: it has diverged")
        picture = table(watcher, shown)
        assert "2 of 4 done, 1 failed, 2 at once; about" in picture
        assert "rope 0 ✗ failed in 2 of 4 0.250" in [" ".join(row.split()) for row in picture.splitlines()]
        watcher.start("rope", 1)
        watcher.finish(run(question, "rope", 1, 2), FITTED)
        assert "3 of 4 done, 1 failed, 2 at once" in table(watcher, shown)
        assert "left" not in table(watcher, shown)
    assert isinstance(shown.file, StringIO)
    assert shown.file.getvalue().splitlines()[-1].endswith("✗ arm rope, seed 0: it has diverged")
    plain = console(terminal=False)
    with LiveWatcher(plain) as watcher:
        go_through(watcher, question, clock)
        watcher.fail("rope", 0, "arm rope, seed 0: it has diverged")
    assert isinstance(plain.file, StringIO)
    assert plain.file.getvalue().splitlines()[-1] == "✗ arm rope, seed 0: it has diverged"


def test_where_there_is_no_terminal_each_that_is_done_is_a_line(
    question: Question, clock: SimpleNamespace
) -> None:
    shown = console(terminal=False)
    with LiveWatcher(shown) as watcher:
        go_through(watcher, question, clock)
    assert isinstance(shown.file, StringIO)
    assert shown.file.getvalue().splitlines()[2:] == [
        "✓ none, seed 0: done before, MRR validation 0.310, test 0.250",
        "✓ none, seed 1: best epoch 2 of 3, MRR validation 0.310, test 0.500",
    ]
