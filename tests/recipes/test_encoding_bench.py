"""What encodings cost: the counter against counts by hand, T-RoPE's published formulas, the interval."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch

from roll_call import roll_call
from rota.encodings import ROTE, ClockRoPE, LearnableRoPE, NoEncoding, RoPE, Split, TRoPE
from rota.encodings.base import Encoding
from rota.errors import InputError
from rota.recipes.arithmetic import Arithmetic, count_arithmetic
from rota.recipes.encoding_bench import TrainingStep, bench_encodings, paired_ratio
from rota.recipes.encoding_costs import count_encoding, every_encoding, published_trope_flops
from rota.recipes.timing import Timing

PAIRS, HEADS = 32, 4


@pytest.mark.parametrize(
    ("work", "operations", "cosines"),
    [
        (lambda: torch.ones(3, 4) + torch.ones(3, 4), 12, 0),
        (lambda: torch.ones(3, 4).mul_(2.0), 12, 0),
        (lambda: torch.ones(3, 4) @ torch.ones(4, 5), 2 * 3 * 4 * 5, 0),
        (lambda: torch.nn.functional.linear(torch.ones(3, 4), torch.ones(5, 4), torch.ones(5)), 135, 0),
        (lambda: torch.ones(2, 3, 4) @ torch.ones(2, 4, 5), 2 * 2 * 3 * 4 * 5, 0),
        (lambda: torch.ones(6, dtype=torch.complex64) * torch.ones(6, dtype=torch.complex64), 36, 0),
        (lambda: torch.ones(6, dtype=torch.complex64) + torch.ones(6, dtype=torch.complex64), 12, 0),
        (lambda: torch.ones(6, dtype=torch.int64).remainder(5), 6, 0),
        (lambda: torch.ones(7).cos(), 7, 7),
        (lambda: torch.ones(7).sin(), 7, 0),
        (lambda: torch.ones(5, 4).sum(0), 16, 0),
        (lambda: torch.addcmul(torch.ones(4), torch.ones(4), torch.ones(4)), 8, 0),
        (lambda: -torch.cat((torch.ones(4), torch.zeros(4))).view(2, 4).T.double()[:, :1].contiguous(), 0, 0),
        (lambda: torch.arange(8).gather(0, torch.arange(3)), 0, 0),
    ],
)
def test_the_counter_by_hand(work: Callable[[], object], operations: int, cosines: int) -> None:
    assert count_arithmetic(work) == Arithmetic(operations, cosines)


def test_the_counter_sees_backward_passes() -> None:
    x = torch.ones(5, requires_grad=True)
    y = x * x
    # of each factor a product with the gradient, and their sum
    assert count_arithmetic(lambda: y.backward(torch.ones(5))).operations == 15


def test_a_rotation_is_twelve_operations_a_pair() -> None:
    """Six for a pair of the query and six for one of the key: T-RoPE's 12 H P, forward and back."""
    for encoding in (RoPE(), TRoPE(), ClockRoPE()):
        cost = count_encoding(encoding)
        assert cost.features == Arithmetic(12 * HEADS * PAIRS, 0)
        assert cost.forward.operations > 12 * HEADS * PAIRS
    assert count_encoding(NoEncoding()).forward == Arithmetic(0, 0)
    narrow = count_encoding(RoPE(), head_dim=16, num_heads=2)
    assert narrow.features.operations == 12 * 2 * 8


def test_cosines_are_those_of_distinct_phases() -> None:
    """Each for the query and the key: RoPE's pairs, and of ClockRoPE the harmonics 0 to 6 for all heads."""
    assert count_encoding(RoPE()).forward.cosines == 2 * PAIRS
    assert count_encoding(ClockRoPE()).forward.cosines == 2 * 7
    assert count_encoding(Split([RoPE(), ClockRoPE()])).forward.cosines == PAIRS + 2 * 6
    assert count_encoding(LearnableRoPE()).forward.cosines == 2 * PAIRS * HEADS


def test_parameters_are_those_of_the_papers() -> None:
    assert count_encoding(TRoPE()).parameters == 2 * PAIRS
    assert count_encoding(LearnableRoPE()).parameters == HEADS * PAIRS
    for encoding in (RoPE(), ClockRoPE(), ROTE()):  # ROTE's ladder is not trained by default
        cost = count_encoding(encoding)
        assert (cost.parameters, cost.learned) == (0, 0)


def test_trope_costs_less_than_published_where_phases_are_learned() -> None:
    """From the rotated output a phase's gradient takes 6 operations a pair instead of 18."""
    published = {what: value for what, (_, value) in published_trope_flops().items()}
    assert published == {"forward": 1664, "backward, q and k": 1536, "backward, coefficients": 2624}
    cost = count_encoding(TRoPE())
    assert cost.features.operations == published["backward, q and k"]
    assert 12 * HEADS * PAIRS < cost.learned < published["backward, coefficients"]
    by_hand = 12 * HEADS * PAIRS + 2 * PAIRS * 2 * (HEADS - 1)  # of q and k; complex sums over heads
    assert by_hand < cost.learned < by_hand + 12 * PAIRS  # then phases to coefficients


def test_every_encoding_is_counted() -> None:
    chosen = every_encoding()
    assert set(chosen) == set(roll_call("encodings", Encoding))  # type: ignore[type-abstract]
    assert next(iter(chosen)) == "rope"
    found = bench_encodings(timed=False)
    assert [row.name for row in found.rows] == list(chosen)
    assert all(row.ratio is None for row in found.rows)


def test_a_step_trains(unchecked_shapes: None) -> None:
    step = TrainingStep(TRoPE())
    module = step.network
    before = {name: value.clone() for name, value in module.named_parameters()}
    step()
    assert all(not torch.equal(before[name], value) for name, value in module.named_parameters())


def test_timings_are_paired_with_ropes(unchecked_shapes: None) -> None:
    told: list[tuple[str, int, int]] = []
    found = bench_encodings(
        encodings={"rope": RoPE()},
        rounds=2,
        threads=1,
        on_progress=lambda *say: told.append(say),
    )
    (row,) = found.rows
    assert row.timing is not None
    assert row.beside is not None
    assert (row.timing.name, row.beside.name) == ("rope again", "rope")
    assert len(row.timing.seconds) == len(row.beside.seconds) == 4
    assert told[0] == ("rope", 0, 7)
    assert told[-1] == ("rope", 7, 7)
    kept = json.loads(json.dumps(found.to_dict()))
    assert kept["schema"] == "rota.bench.encodings/1"
    assert kept["encodings"][0]["recipe"]["recipe"] == "encodings.rope"
    assert len(kept["encodings"][0]["rope_seconds"]) == 4
    middle = kept["encodings"][0]["ratio"]
    assert middle["lo"] <= middle["median"] <= middle["hi"]


def test_the_ratio_is_of_pairs_of_rounds() -> None:
    """What runs second in a round is slower here, in both orders alike; a pair of rounds does not show it."""
    beside = Timing("rope", (1.0, 1.5) * 10)
    timing = Timing("x", tuple(1.1 * second for second in (1.5, 1.0) * 10))
    assert paired_ratio(timing, beside) == pytest.approx((1.1, 1.1, 1.1))


def test_the_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        beside = np.exp(0.1 * rng.standard_normal(40))
        timing = 1.05 * np.exp(0.1 * rng.standard_normal(40))
        _, low, high = paired_ratio(Timing("x", tuple(timing)), Timing("rope", tuple(beside)))
        covered += low <= 1.05 <= high
    assert 180 <= covered <= 200


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: bench_encodings(rounds=1), "1 rounds on None threads: expected at least two rounds"),
        (lambda: bench_encodings(threads=0), "on 0 threads"),
        (lambda: paired_ratio(Timing("a", (1.0,)), Timing("b", (1.0,))), "same even number"),
        (lambda: paired_ratio(Timing("a", (1.0, 2.0)), Timing("b", (1.0,))), "2 and 1 rounds"),
        (lambda: published_trope_flops(1), "0 pairs"),
    ],
)
def test_what_cannot_be_measured_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        wrong()
