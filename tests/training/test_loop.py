"""Training: what it learns, what it keeps, and that it can be repeated."""

import signal

import numpy as np
import pytest
import torch
from habits import World, blueprint, habits, weights

from rota.batch import TimeAccess
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.none import NoEncoding
from rota.errors import InputError
from rota.evaluation.protocol import ask
from rota.evaluation.seen import SeenItems
from rota.models.blueprint import Blueprint
from rota.models.transformer import Transformer
from rota.training.checkpoint import load_checkpoint, save_checkpoint
from rota.training.divergence import DivergedError, LossGuard
from rota.training.loop import fit
from rota.training.order import EpochOrder
from rota.training.progress import Fitted, Progress
from rota.training.recipe import Training
from rota.training.windows import TrainingWindows


@pytest.fixture(scope="module")
def world() -> World:
    return habits()


def train(
    world: World, plan: Blueprint, epochs: int = 3, validate=None, keep=lambda: None, precision="32-true"
):
    network = plan.build()
    windows = TrainingWindows(world.histories, world.train, plan.model.max_len, TimeAccess.REQUEST)
    steps: list[Progress] = []

    fitted = fit(
        network,
        windows,
        Training(epochs=epochs, batch_size=4, learning_rate=1e-2, patience=epochs),
        seed=plan.seed,
        validate=validate or (lambda: world.score(network)),
        keep=keep,
        report=steps.append,
        precision=precision,
    )
    return network, fitted, steps


@pytest.mark.parametrize("encoding", [NoEncoding(), ClockRoPE()])
@pytest.mark.slow
def test_ten_users_are_learnt_by_heart(world: World, encoding: object) -> None:
    _, fitted, _ = train(world, blueprint(encoding), epochs=40)
    assert max(fitted.validation) > 0.95


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_ones(world: World) -> None:
    first, again, other = (weights(train(world, blueprint(seed=seed), 2)[0]) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


def test_every_epoch_has_an_order_of_its_own(world: World) -> None:
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    batches: list[list[int]] = []
    collate = windows.collate
    windows.collate = lambda indices: batches.append(indices) or collate(indices)  # type: ignore[method-assign]
    fit(
        blueprint().build(), windows, Training(epochs=3, batch_size=4, patience=3), seed=0,
        validate=lambda: 0.0, keep=lambda: None, report=lambda progress: None,
    )  # fmt: skip
    order, steps = EpochOrder(windows.lengths, 4, 0), -(-len(windows) // 4)
    epochs = [batches[first : first + steps] for first in range(0, len(batches), steps)]
    for number, found in enumerate(epochs):
        order.set_epoch(number)
        assert found == list(order)
    assert len(epochs) == 3
    assert epochs[0] != epochs[1] != epochs[2]


def test_the_global_stream_is_left_as_it_was(world: World) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(world, blueprint(), 1)
    assert torch.equal(torch.rand(3), expected)


def test_the_network_ends_with_the_weights_of_its_best_epoch(world: World) -> None:
    scores = iter([0.1, 0.9, 0.5])
    seen: list[torch.Tensor] = []
    kept: list[int] = []
    plan = blueprint()
    network = plan.build()

    def validate() -> float:
        seen.append(weights(network))
        return next(scores)

    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    fitted = fit(
        network, windows, Training(epochs=3, batch_size=4), seed=0, validate=validate,
        keep=lambda: kept.append(len(seen)), report=lambda progress: None,
    )  # fmt: skip
    assert fitted == Fitted((0.1, 0.9, 0.5), 1)
    assert kept == [1, 2]
    assert torch.equal(weights(network), seen[1])
    assert not torch.equal(seen[1], seen[2])


def test_it_stops_when_validation_no_longer_improves(world: World) -> None:
    scores = iter([0.5, 0.4, 0.3, 0.2, 0.1])
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    fitted = fit(
        blueprint().build(), windows, Training(epochs=5, batch_size=4, patience=2), seed=0,
        validate=lambda: next(scores), keep=lambda: None, report=lambda progress: None,
    )  # fmt: skip
    assert fitted.validation == (0.5, 0.4, 0.3)


def test_progress_counts_every_step(world: World) -> None:
    _, _, steps = train(world, blueprint(), 2)
    per_epoch = steps[0].steps
    assert [(step.epoch, step.step) for step in steps] == [
        (epoch, step) for epoch in (0, 1) for step in range(1, per_epoch + 1)
    ]
    assert len(steps[-1].validation) == 1


@pytest.mark.slow
def test_bfloat16_trains_too(world: World) -> None:
    _, fitted, _ = train(world, blueprint(ClockRoPE()), epochs=40, precision="bf16-mixed")
    assert max(fitted.validation) > 0.8


@pytest.mark.parametrize(
    ("device", "precision", "said"),
    [("tpu", "32-true", "tpu"), ("cpu", "8-bit", "8-bit"), ("cpu", "16-mixed", "a CPU has none")],
)
def test_unknown_hardware_is_refused(world: World, device: str, precision: str, said: str) -> None:
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    with pytest.raises(InputError, match=said):
        fit(
            blueprint().build(), windows, Training(), seed=0, validate=lambda: 0.0, keep=lambda: None,
            report=lambda progress: None, device=device, precision=precision,
        )  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"epochs": 0},
        {"batch_size": -1},
        {"patience": 0},
        {"learning_rate": float("inf")},
        {"learning_rate": float("nan")},
        {"weight_decay": -0.1},
        {"weight_decay": float("nan")},
        {"accumulate": 0},
        {"warmup": -1},
        {"plateau": -1},
        {"plateau_factor": 1.0},
        {"clip": 0.0},
        {"clip_coefficients": float("nan")},
        {"num_workers": -1},
    ],
)
def test_impossible_training_is_refused_by_name(given: dict[str, float]) -> None:
    ((name, value),) = given.items()
    with pytest.raises(InputError, match=f"{name} {value}: expected"):
        Training(**given)  # type: ignore[arg-type]


def test_a_part_has_a_window_at_least() -> None:
    with pytest.raises(InputError, match="accumulate 25: expected at most batch_size 24"):
        Training(accumulate=25)


def test_ctrl_c_is_a_keyboard_interrupt_that_can_be_pressed_again(world: World) -> None:
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fit(
            blueprint().build(), windows, Training(), seed=0, validate=lambda: 0.0, keep=lambda: None,
            report=lambda progress: signal.raise_signal(signal.SIGINT),
        )  # fmt: skip
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_checkpoint_rebuilds_the_network(world: World, tmp_path) -> None:
    plan = blueprint(ClockRoPE())
    network, _, _ = train(world, plan, 1)
    save_checkpoint(tmp_path / "model", plan, network)
    rebuilt, loaded = load_checkpoint(tmp_path / "model")
    assert rebuilt == plan
    answers = [
        ask(model, world.histories, world.test, access=TimeAccess.REQUEST, seen=SeenItems.KEEP)
        for model in (network, loaded)
    ]
    assert np.array_equal(*answers)
    assert torch.equal(weights(network), weights(loaded))
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.safetensors", "model.toml"]


def test_a_network_is_asked_at_its_own_time_access_only(world: World) -> None:
    network = blueprint().build()
    with pytest.raises(InputError, match="built for time access request and is asked at history"):
        ask(network, world.histories, world.test, access=TimeAccess.HISTORY, seen=SeenItems.KEEP)


def test_a_checkpoint_that_does_not_fit_is_refused_in_one_line(world: World, tmp_path) -> None:
    network, _, _ = train(world, blueprint(), 1)
    wider = Blueprint(Transformer(embedding_dim=32), 20, "s", "request", 0)
    save_checkpoint(tmp_path, wider, network)
    with pytest.raises(InputError, match="does not fit") as refused:
        load_checkpoint(tmp_path)
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="no such file"):
        load_checkpoint(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"not safetensors"])
def test_torn_weights_are_refused(tmp_path, content: bytes) -> None:
    plan = blueprint()
    save_checkpoint(tmp_path, plan, plan.build())
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="does not fit"):
        load_checkpoint(tmp_path)


class Spoiling:
    """Spoils the weights after one step, as a diverging training would."""

    def __init__(self, network: torch.nn.Module, epoch: int, step: int, value: float = float("nan")) -> None:
        self.network, self.at, self.value = network, (epoch, step), value

    def __call__(self, progress: Progress) -> None:
        if (progress.epoch, progress.step) == self.at:
            with torch.no_grad():
                next(self.network.parameters()).fill_(self.value)


@pytest.mark.parametrize("step", [1, 2])
def test_a_loss_that_is_no_number_names_its_step_and_keeps_the_best_epoch(world: World, step: int) -> None:
    scores, kept = iter([0.5, 0.4, 0.3, 0.2]), []
    network = blueprint().build()
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    assert -(-len(windows) // 4) > step
    with pytest.raises(DivergedError, match=rf"the loss is nan in epoch 3, step {step + 1}: ") as diverged:
        fit(
            network, windows, Training(epochs=4, batch_size=4, patience=4), seed=0,
            validate=lambda: next(scores), keep=lambda: kept.append(weights(network)),
            report=Spoiling(network, 2, step),
        )  # fmt: skip
    error = diverged.value
    assert (error.epoch, error.step, error.fitted) == (2, step, Fitted((0.5, 0.4), 0))
    assert len(kept) == 1
    assert torch.equal(weights(network), kept[0])
    assert not network.training
    told = str(error.told("runs/x"))
    assert "last good checkpoint, epoch 1 (validation 0.500), is in runs/x" in told
    assert "lower its learning rate" in told
    assert "\n" not in told


def test_a_loss_that_is_no_number_in_the_first_epoch_leaves_no_checkpoint(world: World) -> None:
    network = blueprint().build()
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    with pytest.raises(DivergedError, match="epoch 1, step 2") as diverged:
        fit(
            network, windows, Training(epochs=4, batch_size=4), seed=0, validate=lambda: 0.0,
            keep=lambda: None, report=Spoiling(network, 0, 1),
        )  # fmt: skip
    assert diverged.value.fitted is None
    assert "no checkpoint" in str(diverged.value.told())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_the_last_step_spoilt_are_not_validated(world: World, value: float) -> None:
    network, asked = blueprint().build(), []
    windows = TrainingWindows(world.histories, world.train, 10, TimeAccess.REQUEST)
    last = -(-len(windows) // 4)
    with pytest.raises(DivergedError, match=f"weights are not finite .* epoch 2, step {last}: "):
        fit(
            network, windows, Training(epochs=3, batch_size=4), seed=0,
            validate=lambda: asked.append(0) or 0.1, keep=lambda: None,
            report=Spoiling(network, 1, last, value),
        )  # fmt: skip
    assert len(asked) == 1


def test_a_guard_that_looks_rarely_still_names_the_first_bad_step(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = LossGuard(blueprint().build())
    with monkeypatch.context() as patched:  # as on a GPU between two looks
        patched.setattr(guard, "_require_finite", lambda epoch: None)
        for epoch, losses in enumerate([(1.0, 2.0, 3.0), (1.0, float("inf"), float("nan"), 2.0)]):
            for step, loss in enumerate(losses):
                guard.watch(torch.tensor(loss), epoch, step)
    with pytest.raises(DivergedError, match="the loss is inf in epoch 2, step 2"):
        guard.require_sound(1)
    guard.watch(torch.tensor(1.0), 2, 0)
    guard.require_sound(2)
