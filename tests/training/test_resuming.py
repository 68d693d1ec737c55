"""A training that was interrupted ends as if it had not been, to the bit; what is torn is never loaded."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from habits import World, blueprint, habits, trained, weights

from rota.encodings.trope import TRoPE
from rota.errors import InputError
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.training import snapshots as writing
from rota.training.loop import StoppedError
from rota.training.progress import Fitted
from rota.training.recipe import Training
from rota.training.seeds import Purpose, enter_stream, stream, stream_seed
from rota.training.snapshots import Snapshots

TRAINING = Training(
    epochs=4, batch_size=6, learning_rate=1e-2, patience=4, accumulate=2, warmup=3, plateau=1, clip=0.5,
    clip_coefficients=1e-3,
)  # fmt: skip
PLAN = blueprint(dropout=0.3, num_layers=1)
SCORES = (0.1, 0.9, 0.3, 0.2)  # the best epoch is not the last, and the rate is lowered in between


@pytest.fixture(scope="module")
def world() -> World:
    return habits(10, 14, missed=1)


@pytest.fixture(scope="module")
def steps(world: World) -> int:
    return -(-len(world.windows()) // TRAINING.batch_size)


def run(
    world: World, folder: Path | None, until: int | None = None, every: int = 1, plan: Blueprint = PLAN
) -> tuple[Network, Fitted]:
    """Train; with ``until``, only so many steps from where it stood."""
    left = [0 if until is None else until]
    kept = None if folder is None else Snapshots(folder, "me", every)
    before = None if kept is None else kept.latest()
    done = [0 if before is None else len(before.facts["validation"])]

    def wanted() -> bool:
        left[0] -= 1
        return left[0] != 0

    def record(fitted: Fitted) -> None:
        done[0] = len(fitted.validation)

    return trained(
        world, TRAINING, plan, validate=lambda: SCORES[done[0]], snapshots=kept, wanted=wanted, record=record
    )


@pytest.fixture(scope="module")
def whole(world: World) -> tuple[Network, Fitted]:
    return run(world, None)


def require_same(found: tuple[Network, Fitted], wanted: tuple[Network, Fitted]) -> None:
    assert torch.equal(weights(found[0]), weights(wanted[0]))
    assert found[1] == wanted[1]
    own, other = (
        [replace(record, targets_per_second=0.0) for record in fitted.records]
        for _, fitted in (found, wanted)
    )
    assert own == other


def test_steps_are_enough_to_be_interrupted_in(steps: int, whole: tuple[Network, Fitted]) -> None:
    assert steps >= 3
    assert whole[1].best_epoch == 1
    rates = [record.learning_rate for record in whole[1].records]
    assert rates == pytest.approx([1e-2, 1e-2, 1e-2, 0.5e-2])


@pytest.mark.parametrize("until", [1, 3, 4, 6])
def test_interrupted_after_any_step_it_ends_the_same(
    world: World, whole: tuple[Network, Fitted], tmp_path: Path, until: int
) -> None:
    with pytest.raises(StoppedError):
        run(world, tmp_path, until)
    require_same(run(world, tmp_path), whole)


def test_what_an_encoding_learns_goes_on_too(world: World, tmp_path: Path) -> None:
    plan = blueprint(TRoPE(), num_layers=1)
    with pytest.raises(StoppedError):
        run(world, tmp_path, 3, plan=plan)
    require_same(run(world, tmp_path, plan=plan), run(world, None, plan=plan))


def test_interrupted_all_the_time_it_ends_the_same(
    world: World, whole: tuple[Network, Fitted], tmp_path: Path
) -> None:
    times = 0
    while True:
        try:
            found = run(world, tmp_path, until=2)
            break
        except StoppedError:
            times += 1
    assert times > 4
    require_same(found, whole)


@pytest.mark.parametrize(
    "tear", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:-1] + b"x"]
)
def test_a_torn_checkpoint_is_passed_over(
    world: World, whole: tuple[Network, Fitted], tmp_path: Path, tear: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(StoppedError):
        run(world, tmp_path, until=5)
    first, last = sorted(tmp_path.iterdir())
    last.write_bytes(tear(last.read_bytes()))
    kept = Snapshots(tmp_path, "me")
    found = kept.latest()
    assert found is not None
    assert f"{found.epoch:06}-{found.step:08}" == first.name[:15]
    assert kept.torn == (last,)
    require_same(run(world, tmp_path), whole)


def test_the_last_two_are_kept_and_nothing_half_written(world: World, tmp_path: Path, steps: int) -> None:
    (tmp_path / ".000000-00000001-ab.safetensors.part").write_bytes(b"half")
    run(world, tmp_path, every=0)
    assert [path.name[:15] for path in sorted(tmp_path.iterdir())] == ["000003-00000000", "000004-00000000"]


@pytest.mark.parametrize("written", [0, 1, 4])
def test_a_full_disk_loses_nothing(
    world: World, whole: tuple[Network, Fitted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    done: list[Path] = []

    def full(path: Path, data: bytes) -> None:
        if len(done) == written:
            path.write_bytes(data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        done.append(path)
        path.write_bytes(data)

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write_through", full)
        with pytest.raises(OSError, match="No space left"):
            run(world, tmp_path)
    assert len(list(tmp_path.iterdir())) == min(written, 2)
    assert Snapshots(tmp_path, "me").torn == ()
    require_same(run(world, tmp_path), whole)


def test_another_trainings_checkpoints_are_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(StoppedError):
        run(world, tmp_path, until=2)
    with pytest.raises(InputError, match="set up otherwise"):
        trained(world, TRAINING, PLAN, snapshots=Snapshots(tmp_path, "you"))
    with pytest.raises(InputError, match="every -1"):
        Snapshots(tmp_path, "me", -1)


def test_no_two_streams_are_one() -> None:
    found = {
        stream_seed(seed, purpose, *place)
        for seed in range(4)
        for purpose in Purpose
        for place in [(epoch, step) for epoch in range(5) for step in range(40)] + [(0, 0, 1), (0,), (1,)]
    }
    assert len(found) == 4 * 3 * 203


def test_streams_are_the_twister_s_with_a_whole_state_of_their_own() -> None:
    """PyTorch's own seeds are of 32 bits: these two are one stream to it."""
    asked = [(102, Purpose.NEGATIVES, 0, 94), (158, Purpose.DROPOUT, 0, 24)]
    seeded = [torch.Generator().manual_seed(stream_seed(*each)) for each in asked]
    assert torch.equal(*(torch.rand(4, generator=each) for each in seeded))
    drawn = []
    for seed, purpose, *counters in asked:
        sequence = np.random.SeedSequence([seed], spawn_key=(int(purpose), *counters))
        twister = np.random.MT19937()
        twister.state = twister.state | {"state": {"key": sequence.generate_state(624), "pos": 624}}
        with torch.random.fork_rng():
            enter_stream(seed, purpose, *counters)
            drawn.append(torch.randint(2**20, (2000,)))
        numbers = torch.from_numpy(twister.random_raw(2000).astype(np.int64) % 2**20)
        assert torch.equal(drawn[-1], numbers)
        assert torch.equal(torch.randint(2**20, (2000,), generator=stream(seed, purpose, *counters)), numbers)
    assert not torch.equal(*drawn)
