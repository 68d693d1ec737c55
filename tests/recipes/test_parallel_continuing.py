"""A comparison that was broken off goes on in its folder: what is finished is not done again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filelock import FileLock

from rota.data.log import Log
from rota.data.reading import read_log
from rota.errors import InputError
from rota.evaluation.run import Run
from rota.models.transformer import Transformer
from rota.recipes import addresses, jobs
from rota.recipes.comparison import compare
from rota.recipes.outcomes import RECORD
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.watching import Unwatched
from rota.serving.artefact import mark_stopped
from rota.training.progress import Fitted
from rota.training.recipe import Training
from town import columns, town

PLAN = Plan(
    ("none", "rope"),
    seeds=2,
    model=Transformer(embedding_dim=8, num_layers=1, max_len=10),
    protocol=Protocol(training=Training(epochs=1, batch_size=8)),
)
FOLDERS = ["none-seed0", "none-seed1", "rope-seed0", "rope-seed1"]


class BrokenOffError(Exception):
    """Whatever may end a run."""


class Counting(Unwatched):
    """Counts trainings; breaks off when so many are finished."""

    def __init__(self, most: int = 99) -> None:
        self.most, self.before, self.done = most, [], []

    def found(self, run: Run, fitted: Fitted) -> None:
        self.before.append(f"{run.arm}-seed{run.seed}")

    def start(self, arm: str, seed: int) -> None:
        if len(self.done) == self.most:
            raise BrokenOffError

    def finish(self, run: Run, fitted: Fitted) -> None:
        self.done.append(f"{run.arm}-seed{run.seed}")


def town_log(users: int = 12) -> Log:
    return read_log(pa.table(columns(town(users, 5))), user="user", item="item", time="when")


@pytest.fixture(scope="module")
def log() -> Log:
    return town_log()


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Pictures take longer than all the rest, and other tests look at them."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("attention", "learning", "prior"):
            patched.setattr(f"rota.recipes.study.draw_{name}", lambda _, path: path.write_bytes(b"drawn"))
        yield


@pytest.fixture(scope="module")
def whole(log: Log, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "out"
    compare(log, PLAN, out=folder)
    return folder


@pytest.fixture
def begun(log: Log, tmp_path: Path) -> Path:
    """A comparison that was broken off after two trainings of four."""
    with pytest.raises(BrokenOffError):
        compare(log, PLAN, out=tmp_path / "out", watcher=Counting(2))
    return tmp_path / "out"


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def again(log: Log, folder: Path, plan: Plan = PLAN, **named: Any) -> Counting:
    watcher = Counting()
    compare(log, plan, out=folder, watcher=watcher, **named)
    return watcher


def test_it_does_the_rest_and_ends_with_the_same_bytes(log: Log, whole: Path, begun: Path) -> None:
    kept = {path: path.stat().st_mtime_ns for path in begun.rglob("*") if path.is_file()}
    assert sorted(path.name for path in begun.iterdir()) == ["models", "plan.toml"]
    watcher = again(log, begun)
    assert (watcher.before, watcher.done) == (FOLDERS[:2], FOLDERS[2:])
    assert content(begun) == content(whole)
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())


def test_broken_off_after_each_training_it_ends_the_same(log: Log, whole: Path, tmp_path: Path) -> None:
    times = 0
    while not (tmp_path / "out" / "results.json").exists():
        times += 1
        try:
            compare(log, PLAN, out=tmp_path / "out", watcher=Counting(1))
        except BrokenOffError:
            assert not (tmp_path / "out" / ".lock").exists()
    assert times == 4
    assert content(tmp_path / "out") == content(whole)


def test_broken_off_while_it_is_written_down_it_ends_the_same(
    log: Log, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("rota.recipes.study.draw_learning", full)
        with pytest.raises(OSError, match="No space"):
            compare(log, PLAN, out=tmp_path / "out")
    assert not (tmp_path / "out" / "results.json").exists()
    watcher = again(log, tmp_path / "out")
    assert (watcher.before, watcher.done) == (FOLDERS, [])
    assert content(tmp_path / "out") == content(whole)


def other_code(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "code_version", lambda: "rota 9.9.9")


def other_recipe(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(blueprint: Any, *given: Any) -> Any:
        return addresses.address_of(replace(blueprint, seed=blueprint.seed + 7), *given)

    monkeypatch.setattr(jobs, "address_of", other)


def torn_records(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in begun.rglob(RECORD):
        path.write_bytes(path.read_bytes()[:-9])


def no_records(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in begun.rglob(RECORD):
        path.unlink()
        mark_stopped(path.parent, "for example")


@pytest.mark.parametrize("change", [other_code, other_recipe, torn_records, no_records])
def test_what_is_not_the_very_same_training_is_done_again(
    log: Log, whole: Path, begun: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., None]
) -> None:
    change(begun, monkeypatch)
    watcher = again(log, begun)
    assert (watcher.before, watcher.done) == ([], FOLDERS)
    for name, data in content(whole).items():
        if not name.endswith(RECORD):
            assert (begun / name).read_bytes() == data, name
    assert sorted(path.name for path in (begun / "models").iterdir()) == FOLDERS


def test_another_number_of_threads_is_another_training(log: Log, begun: Path) -> None:
    assert again(log, begun, threads=2).before == []


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (replace(PLAN, temperature=0.5), "temperature None, and this has 0.5"),
        (
            replace(PLAN, protocol=replace(PLAN.protocol, training=Training(epochs=1))),
            "protocol.training.batch_size 8, and this has 24",
        ),
    ],
)
def test_another_plan_is_refused_and_harms_nothing(log: Log, begun: Path, plan: Plan, said: str) -> None:
    before = content(begun)
    with pytest.raises(InputError) as refused:
        compare(log, plan, out=begun)
    assert f"{begun} is of a comparison with {said}: expected the same, but for arms, seeds and prior" in str(
        refused.value
    )
    assert content(begun) == before


@pytest.mark.parametrize(
    ("plan", "before", "done"),
    [
        (replace(PLAN, seeds=3), FOLDERS[:2], ["none-seed2", "rope-seed0", "rope-seed1", "rope-seed2"]),
        (replace(PLAN, arms=("rope", "none"), control="rope", seeds=1), ["none-seed0"], ["rope-seed0"]),
        (replace(PLAN, arms=("trope",), control="trope"), [], ["trope-seed0", "trope-seed1"]),
    ],
)
def test_with_other_arms_or_seeds_it_goes_on_and_ends_as_if_they_had_been_meant_from_the_start(
    log: Log, begun: Path, tmp_path: Path, plan: Plan, before: list[str], done: list[str]
) -> None:
    watcher = again(log, begun, plan)
    assert (watcher.before, watcher.done) == (before, done)
    compare(log, plan, out=tmp_path / "anew")
    anew, found = content(tmp_path / "anew"), content(begun)
    assert {name: found[name] for name in anew} == anew


@pytest.mark.parametrize("arms", [PLAN.arms, ("trope",)])
def test_another_log_is_refused_and_harms_nothing(begun: Path, arms: tuple[str, ...]) -> None:
    before = content(begun)
    with pytest.raises(InputError, match=r"none-seed0 is of a training on other data, .* another log"):
        compare(town_log(13), replace(PLAN, arms=arms, control=arms[0]), out=begun)
    assert content(begun) == before


def test_what_is_finished_or_in_use_is_refused(log: Log, whole: Path, begun: Path) -> None:
    with pytest.raises(InputError, match="out is not empty: an earlier result is never overwritten"):
        compare(log, PLAN, out=whole)
    with FileLock(begun / ".lock"), pytest.raises(InputError, match="out is in use by another run"):
        compare(log, PLAN, out=begun)
    assert again(log, begun).done == FOLDERS[2:]


def just_made(out: Path) -> None:
    (out / "models").mkdir(parents=True)


def with_half_a_plan(out: Path) -> None:
    just_made(out)
    (out / ".lock").touch()
    (out / ".plan.toml.123.part").write_text('recipe = "rec')


@pytest.mark.parametrize("left", [just_made, with_half_a_plan])
def test_one_that_was_killed_at_once_begins_anew(
    log: Log, whole: Path, tmp_path: Path, left: Callable[[Path], None]
) -> None:
    left(tmp_path / "out")
    assert again(log, tmp_path / "out").done == FOLDERS
    assert content(tmp_path / "out") == content(whole)


def test_what_a_killed_run_left_half_made_goes(log: Log, whole: Path, begun: Path) -> None:
    for name in (".work", "models/.rope-seed1.123.part", "models/.none-seed0.123.before", ".results.part"):
        (begun / name).mkdir()
        (begun / name / "half").write_text("x")
    again(log, begun)
    assert content(begun) == content(whole)


def foreign_models(out: Path) -> None:
    just_made(out)
    (out / "models" / "mine").mkdir()


def foreign_file(out: Path) -> None:
    just_made(out)
    (out / "notes.txt").write_text("mine")


@pytest.mark.parametrize("left", [foreign_models, foreign_file])
def test_a_strangers_folder_is_refused(log: Log, tmp_path: Path, left: Callable[[Path], None]) -> None:
    left(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="is not empty"):
        compare(log, PLAN, out=tmp_path / "out")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("wrong", [{"processes": 0}, {"processes": -1}, {"threads": 0}])
def test_numbers_that_mean_nothing_are_refused(log: Log, wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="expected a whole number of at least 1"):
        compare(log, PLAN, **wrong)  # type: ignore[arg-type]
