"""A comparison in several processes: the same bits as in one, and none of them outlives it."""

import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rota.data.log import Log
from rota.data.reading import read_log
from rota.errors import InputError
from rota.evaluation.run import Run
from rota.kernels.expression import parse_kernel
from rota.models.transformer import Transformer
from rota.recipes import pool
from rota.recipes.comparison import compare
from rota.recipes.handing import hand_over, take_over
from rota.recipes.jobs import Job, jobs_of
from rota.recipes.outcomes import RECORD, Outcome, finished
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question, ask_of
from rota.recipes.study import Study
from rota.recipes.watching import Unwatched
from rota.serving.artefact import load_artefact
from rota.training.progress import Fitted, Progress
from rota.training.recipe import Training
from town import columns, town

ARMS = ("none", "rope+clockrope")
FOLDERS = [f"{arm}-seed{seed}" for arm in ARMS for seed in (0, 1)]


def plan(arms: tuple[str, ...] = ARMS, seeds: int = 2, **training: Any) -> Plan:
    return Plan(
        arms,
        seeds=seeds,
        prior=(parse_kernel("wrapped_gaussian(24h, 1h)"),) if "rope+clockrope" in arms else (),
        model=Transformer(embedding_dim=8, num_layers=1, max_len=10),
        protocol=Protocol(training=Training(**{"epochs": 2, "batch_size": 8, **training})),
    )


LONG = plan(("none",), seeds=1, epochs=10**6, patience=10**6)


class Heard(Unwatched):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def begin(self, question: Question, plan: Plan, processes: int) -> None:
        self.events.append(("begin", processes))

    def found(self, run: Run, fitted: Fitted) -> None:
        self.events.append(("found", run.arm, run.seed))

    def start(self, arm: str, seed: int) -> None:
        self.events.append(("start", arm, seed))

    def step(self, arm: str, seed: int, progress: Progress) -> None:
        assert float(progress.loss) > 0
        assert 0 < progress.step <= progress.steps
        assert len(progress.validation) == progress.epoch
        self.events.append(("step", arm, seed))

    def finish(self, run: Run, fitted: Fitted) -> None:
        self.events.append(("finish", run.arm, run.seed))

    def fail(self, arm: str, seed: int, why: str) -> None:
        self.events.append(("fail", arm, seed))


@pytest.fixture(scope="module")
def log() -> Log:
    return read_log(pa.table(columns(town(12, 5))), user="user", item="item", time="when")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("places")


@pytest.fixture(scope="module")
def alone(log: Log, places: Path) -> Study:
    return compare(log, plan(), out=places / "alone")


@pytest.fixture(scope="module")
def heard() -> Heard:
    return Heard()


@pytest.fixture(scope="module")
def apart(log: Log, places: Path, heard: Heard) -> Study:
    return compare(log, plan(), out=places / "apart", processes=2, watcher=heard)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[str]]:
    """Processes that the pool starts."""
    started: list[subprocess.Popen[str]] = []

    class Noted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


def content(folder: Path, *but: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in but
    }


@pytest.mark.slow
def test_two_processes_leave_the_same_bytes_as_one(alone: Study, apart: Study, places: Path) -> None:
    own, other = (content(places / name) for name in ("alone", "apart"))
    assert list(own) == list(other)
    assert [name for name in own if own[name] != other[name]] == []
    assert {name for name in own if name.endswith(RECORD)} == {f"models/{each}/{RECORD}" for each in FOLDERS}
    assert sorted(path.name for path in (places / "apart").iterdir()) == [
        "attention.png", "learning.png", "models", "plan.toml", "prior.png", "ranks.parquet", "results.json"
    ]  # fmt: skip
    assert sorted(path.name for path in (places / "apart" / "models").iterdir()) == sorted(FOLDERS)


def test_the_study_in_memory_is_the_same_too(alone: Study, apart: Study) -> None:
    assert alone.comparison.to_json() == apart.comparison.to_json()
    for own, other in zip(alone.priors, apart.priors, strict=True):
        assert own.label == other.label
        assert own.cycles_per_second.tolist() == other.cycles_per_second.tolist()
    for arm in ARMS:
        for own, other in zip(alone.attention[arm], apart.attention[arm], strict=True):
            assert own.relative.tobytes() == other.relative.tobytes()


def test_the_watcher_is_told_of_every_training(apart: Study, heard: Heard) -> None:
    places = [(arm, seed) for arm in ARMS for seed in (0, 1)]
    assert heard.events[0] == ("begin", 2)
    for kind in ("start", "finish"):
        assert sorted(event[1:] for event in heard.events if event[0] == kind) == places
    for place in places:
        own = [event[0] for event in heard.events if event[1:] == place]
        assert (own[0], own[-1]) == ("start", "finish")
        assert set(own[1:-1]) == {"step"}


@pytest.mark.slow
def test_without_a_folder_it_is_the_same_and_nothing_is_left(
    log: Log, alone: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = compare(log, plan(("none",)), processes=2)
    for run in found.comparison.runs[:2]:
        (own,) = (each for each in alone.comparison.runs if (each.arm, each.seed) == (run.arm, run.seed))
        assert own.ranks.tolist() == run.ranks.tolist()
        assert own.validation == run.validation
    assert list(tmp_path.iterdir()) == []


def test_what_is_handed_over_is_what_was_asked(log: Log, tmp_path: Path) -> None:
    question, protocol = ask_of(log), plan().protocol
    hand_over(question, protocol, tmp_path)
    again, same = take_over(tmp_path)
    assert same == protocol
    assert again.log.fingerprint == question.log.fingerprint
    assert (again.log.about, again.log.user_ids, again.log.item_ids) == (
        question.log.about, question.log.user_ids, question.log.item_ids
    )  # fmt: skip
    assert (again.stages.name, again.stages.hash) == (question.stages.name, question.stages.hash)
    for name in ("train", "validation", "test", "counted"):
        for own, other in zip(getattr(again.stages, name), getattr(question.stages, name), strict=True):
            assert own.tolist() == other.tolist()
    assert again.log.items.base is not None  # mapped, not read


def pooled(
    log: Log, asked: Plan, folder: Path, watcher: Unwatched, change: Callable[[Job], Job], changed: int = -1
) -> list[Outcome | InputError]:
    """Trainings of a plan, one of them changed, in one process of its own."""
    question = ask_of(log)
    for name in ("work", "models"):
        (folder / name).mkdir()
    hand_over(question, asked.protocol, folder / "work")
    jobs = [job for own in jobs_of(question, asked, folder, 1).values() for job in own]
    jobs[changed] = change(jobs[changed])
    try:
        return pool.worked_off(jobs, folder / "work", processes=1, threads=1, watcher=watcher)
    finally:
        for job in jobs:
            (folder / f"{job.name} is {'' if finished(job) else 'not '}finished").touch()


def as_it_is(job: Job) -> Job:
    return job


class Doing(Unwatched):
    """Does something once, when a step is told of."""

    def __init__(self, act: Callable[[Progress], None]) -> None:
        self.act = act

    def step(self, arm: str, seed: int, progress: Progress) -> None:
        self.act(progress)


def test_a_killed_process_is_told_with_its_training(
    log: Log, tmp_path: Path, workers: list[subprocess.Popen[str]]
) -> None:
    watcher = Doing(lambda _: workers[0].kill())
    with pytest.raises(InputError, match=r"^arm none, seed 0: its process was killed by SIGKILL: ") as told:
        pooled(log, LONG, tmp_path, watcher, as_it_is)
    assert "\n" not in str(told.value)
    assert "fewer processes" in str(told.value)
    assert workers[0].returncode == -signal.SIGKILL
    assert (tmp_path / "arm none, seed 0 is not finished").is_file()


@pytest.mark.slow
def test_a_training_that_fails_is_told_and_the_others_are_done(
    log: Log, tmp_path: Path, workers: list[subprocess.Popen[str]]
) -> None:
    def blind(job: Job) -> Job:
        return replace(job, blueprint=replace(job.blueprint, time_access="none"))

    heard = Heard()
    failed, done = pooled(log, plan(ARMS[::-1], seeds=1), tmp_path, heard, blind, 0)
    assert isinstance(failed, InputError)
    assert re.match(r"arm rope\+clockrope, seed 0: \w+ works by time", str(failed))
    assert isinstance(done, Outcome)
    assert ("fail", "rope+clockrope", 0) in heard.events
    assert workers[0].returncode == 0
    assert (tmp_path / "arm none, seed 0 is finished").is_file()
    assert (tmp_path / "arm rope+clockrope, seed 0 is not finished").is_file()


@pytest.mark.slow
def test_what_the_system_refuses_is_told_as_such(log: Log, tmp_path: Path) -> None:
    def nowhere(job: Job) -> Job:
        return replace(job, folder=tmp_path / "work" / "log" / "items.npy" / "none-seed0")

    with pytest.raises(NotADirectoryError, match=r"items\.npy"):
        pooled(log, plan(("none",), seeds=1), tmp_path, Unwatched(), nowhere)


@pytest.mark.slow
def test_interrupted_it_keeps_the_best_epoch_so_far(
    log: Log, tmp_path: Path, workers: list[subprocess.Popen[str]]
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.epoch > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pooled(log, LONG, tmp_path, Doing(interrupt), as_it_is)
    assert load_artefact(tmp_path / "models" / "none-seed0").provenance.stopped == "KeyboardInterrupt"
    assert workers[0].returncode == 0
    assert (tmp_path / "arm none, seed 0 is not finished").is_file()
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["none-seed0"]


@pytest.mark.slow
def test_a_worker_hears_no_ctrl_c_and_ends_with_its_parent(
    log: Log, tmp_path: Path, workers: list[subprocess.Popen[str]]
) -> None:
    """Its standard input is all that ties it to its parent, and ends with that, whatever kills it."""
    told: list[int] = []

    def act(progress: Progress) -> None:
        told.append(progress.epoch)
        if len(told) == 1:
            workers[0].send_signal(signal.SIGINT)
        if told[-1] > told[0] + 1:  # it went on
            assert workers[0].stdin is not None
            workers[0].stdin.close()
            assert workers[0].wait(timeout=60) == 0

    with pytest.raises(InputError, match=r"^arm none, seed 0: its process ended with exit code 0"):
        pooled(log, LONG, tmp_path, Doing(act), as_it_is)
