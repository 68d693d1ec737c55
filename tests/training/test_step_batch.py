"""A step in parts and processes is the undivided step; and every target weighs the same."""

from dataclasses import replace

import pytest
import torch
from habits import World, blueprint, habits, trained, weights
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.encodings.trope import TRoPE
from rota.training.lesson import Lesson
from rota.training.losses.base import Loss
from rota.training.losses.bce import BCE
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.losses.sampled_softmax import SampledSoftmax
from rota.training.negatives.in_batch import InBatchNegatives
from rota.training.negatives.popularity import PopularityNegatives
from rota.training.processes import Processes
from rota.training.recipe import Training
from rota.training.step_batch import StepBatch, Syllabus

LOSSES = [
    FullSoftmax(),
    BCE(num_negatives=2),
    SampledSoftmax(num_negatives=5),
    SampledSoftmax(num_negatives=5, negatives=InBatchNegatives()),
    SampledSoftmax(num_negatives=5, negatives=PopularityNegatives()),
]


@pytest.fixture(scope="module")
def world() -> World:
    return habits(10, 14, missed=1)


def steps(world: World, training: Training, rank: int = 0, processes: int = 1) -> list[StepBatch]:
    syllabus = Syllabus(world.windows(), training, 3, rank=rank, processes=processes)
    return list(syllabus.batches(1, 0, pin=False))


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))
def test_parts_of_all_processes_have_each_target_once(batch_size: int, parts: int, processes: int) -> None:
    world = habits(4, 10, missed=2)
    training = Training(batch_size=batch_size, accumulate=min(parts, batch_size), loss=BCE())
    whole = steps(world, replace(training, accumulate=1))
    shared = [steps(world, training, rank, processes) for rank in range(processes)]
    for step, undivided in enumerate(whole):
        found: list[int] = []
        for batch in (own[step] for own in shared):
            assert (batch.epoch, batch.step, batch.targets) == (1, step, undivided.targets)
            assert batch.parts
            for part in batch.parts:
                assert part.drawn is not None
                assert len(part.drawn.codes) == len(part.lesson.targets)
                found += part.lesson.targets.tolist() if part.counts else []
        assert sorted(found) == sorted(undivided.parts[0].lesson.targets.tolist())


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_step_in_parts_has_the_loss_of_the_undivided_one(world: World, loss: Loss) -> None:
    """Gradients add up over parts and processes, whichever negatives the loss draws."""
    training = Training(batch_size=6, loss=loss)
    network = blueprint(dropout=0.0).build()

    def gradients(training: Training, rank: int, processes: int) -> tuple[torch.Tensor, torch.Tensor]:
        syllabus = Syllabus(world.windows(), training, 3, rank=rank, processes=processes)
        lesson = Lesson(network, syllabus, "cpu", "32-true", Processes())
        batch = next(syllabus.batches(0, 0, pin=False))
        network.zero_grad()
        losses = torch.stack([lesson._backward(part, batch) for part in batch.parts]).sum()
        return losses, torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])

    alone = gradients(training, 0, 1)
    halves = [gradients(training, rank, 2) for rank in (0, 1)]
    torch.testing.assert_close(halves[0][0] + halves[1][0], alone[0])
    torch.testing.assert_close(halves[0][1] + halves[1][1], alone[1], rtol=1e-4, atol=1e-6)
    for parts in (2, 3):
        found = gradients(replace(training, accumulate=parts), 0, 1)
        torch.testing.assert_close(found[1], alone[1], rtol=1e-4, atol=1e-6)


def test_every_target_weighs_the_same_whichever_batch_it_came_in(world: World) -> None:
    training = Training(batch_size=3, loss=FullSoftmax())
    network = blueprint(dropout=0.0).build()
    syllabus = Syllabus(world.windows(), training, 0)
    assert len({batch.targets for batch in syllabus.batches(0, 0, pin=False)}) > 1
    lesson = Lesson(network, syllabus, "cpu", "32-true", Processes())
    for batch in syllabus.batches(0, 0, pin=False):
        lesson._backward(batch.parts[0], batch)
    found = torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
    network.zero_grad()
    everything = world.windows().collate(list(range(len(world.windows()))))
    features, _ = network(everything.batch)
    asked = features.flatten(0, 1)[everything.asked]
    mean = FullSoftmax()(asked, everything.targets, network.item_embeddings, torch.Generator())
    (mean * syllabus.steps).backward()
    wanted = torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-6)


def test_workers_change_no_number(world: World) -> None:
    training = Training(epochs=2, batch_size=4)
    alone, _ = trained(world, training)
    helped, _ = trained(world, replace(training, num_workers=2))
    assert torch.equal(weights(alone), weights(helped))


def test_parts_change_no_more_than_the_rounding(world: World) -> None:
    training = Training(epochs=1, batch_size=6, loss=FullSoftmax())
    alone, _ = trained(world, training, blueprint(dropout=0.0))
    parted, _ = trained(world, replace(training, accumulate=4), blueprint(dropout=0.0))
    apart = (weights(alone) - weights(parted)).abs()
    assert apart.quantile(0.99) < 1e-5
    assert apart.max() < training.learning_rate  # of Adam a step, where a gradient is rounding alone
    assert not torch.equal(weights(alone), weights(blueprint(dropout=0.0).build()))


@pytest.mark.parametrize(("clip", "coefficients"), [(1e-3, None), (None, 1e-5), (1e-3, 1e-5)])
def test_each_group_is_clipped_by_its_own_norm(
    world: World, clip: float | None, coefficients: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = blueprint(TRoPE(), dropout=0.0).build()
    training = Training(batch_size=6, loss=FullSoftmax(), clip=clip, clip_coefficients=coefficients)
    clocks = {name for name, _ in network.named_parameters() if "rotation" in name or "encoding" in name}
    assert clocks
    syllabus = Syllabus(world.windows(), training, 0)
    lesson = Lesson(network, syllabus, "cpu", "32-true", Processes())
    batch = next(syllabus.batches(0, 0, pin=False))
    lesson._backward(batch.parts[0], batch)
    before = {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
    network.zero_grad()
    after: dict[str, torch.Tensor] = {}

    def stopped() -> None:
        after.update({name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None})

    monkeypatch.setattr(lesson.optimizer, "step", stopped)
    lesson.learn(batch, ())
    for group, limit in ((before.keys() - clocks, clip), (before.keys() & clocks, coefficients)):
        old, new = (
            torch.cat([grads[name].double().flatten() for name in sorted(group)]) for grads in (before, after)
        )
        assert old.norm() > (limit or 0.0)
        wanted = old if limit is None else old * (limit / old.norm())
        torch.testing.assert_close(new, wanted, rtol=1e-3, atol=1e-9)
