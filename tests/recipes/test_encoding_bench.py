"""What encodings cost: the counter against counts by hand, T-RoPE's published formulas, the interval."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch

from roll_call import roll_call
from rota.attention import Intervals
from rota.commands._encodings_report import show_encodings
from rota.encodings import (
    ROTE,
    BiasRecipe,
    Calendar,
    ClockRoPE,
    FourierFeatures,
    InputRecipe,
    LearnableRoPE,
    NoEncoding,
    PositionBias,
    RoPE,
    Split,
    TimeBias,
    TimestampEmbedding,
    TRoPE,
)
from rota.encodings.base import Encoding
from rota.errors import InputError
from rota.recipes.addition_costs import count_addition, every_addition
from rota.recipes.arithmetic import Arithmetic, count_arithmetic
from rota.recipes.encoding_bench import TrainingStep, bench_encodings, everything_counted, paired_ratio
from rota.recipes.encoding_costs import count_encoding, every_encoding, published_trope_flops
from rota.recipes.timing import Timing

PAIRS, HEADS = 32, 4
LENGTH, WIDTH = 200, 256  # events of a row, features of an embedding


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
        (lambda: torch.zeros(3).scatter_add(0, torch.tensor([0, 2, 0, 1, 0]), torch.ones(5)), 5, 0),
        (lambda: torch.zeros(3, 2).index_add(0, torch.tensor([0, 2, 0, 1]), torch.ones(4, 2)), 8, 0),
        (lambda: torch.nn.functional.embedding(torch.arange(3), torch.ones(3, 4)), 0, 0),
        (lambda: torch.bucketize(torch.arange(10), torch.arange(7)), 10 * 3, 0),  # 7 numbers: 3 halvings
        (lambda: torch.bucketize(torch.arange(10), torch.arange(8)), 10 * 4, 0),
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


def test_biases_by_hand() -> None:
    """Of each of 200 pairs of a token: distance and offset; gap, its size, its bucket; and what is added."""
    place, halvings = 2, 8  # 128 thresholds
    cost = count_addition(PositionBias(), head_dim=64, num_heads=HEADS)
    assert cost.parameters == 2 * LENGTH - 1
    assert cost.forward == Arithmetic(LENGTH * (place + HEADS), 0)
    assert cost.backward == cost.learned == LENGTH * ((HEADS - 1) + 1)  # over heads, then into the table
    cost = count_addition(TimeBias(position=False))
    assert cost.parameters == 129
    assert cost.forward == Arithmetic(LENGTH * (2 + halvings + HEADS), 0)
    assert cost.learned == LENGTH * ((HEADS - 1) + 1)
    both = count_addition(TimeBias())
    assert both.parameters == 129 + 2 * LENGTH - 1
    assert both.forward == Arithmetic(LENGTH * (2 + halvings + place + 1 + HEADS), 0)
    assert both.learned == LENGTH * ((HEADS - 1) + 2)
    assert count_addition(PositionBias(), num_heads=1).forward.operations == LENGTH * (place + 1)


def test_inputs_by_hand() -> None:
    """Of each event, for itself and its query: the clock, then vectors of 256 features and their sum."""
    calendar = count_addition(Calendar())
    assert calendar.parameters == 2 * (24 + 7) * WIDTH
    assert calendar.forward == Arithmetic(2 * (2 + 3) + 4 * WIDTH, 0)  # three sums of vectors, and the event
    assert calendar.backward == calendar.learned == 4 * WIDTH
    fourier = count_addition(FourierFeatures(["24h", "7d", "30d"]))
    features, phase = 2 * 2 * 3, 15  # event and query, cosine and sine; a residue made a float32 turn
    assert fourier.parameters == features * WIDTH
    assert fourier.forward == Arithmetic(2 * 3 * (phase + 3) + 2 * features * WIDTH + WIDTH, 2 * 3)
    assert fourier.learned == 2 * features * WIDTH
    assert count_addition(Calendar(), head_dim=8, num_heads=2).forward.operations == 10 + 4 * 16
    dates = count_addition(TimestampEmbedding())
    features, phase = 2 * (16 + 1), 8  # waves and the trend; a turn in float64
    assert dates.parameters == features * WIDTH + 2 * 17
    by_hand = 2 * (1 + 2 + 16 * (phase + 3)) + 2 * features * WIDTH + WIDTH
    assert by_hand <= dates.forward.operations <= by_hand + 1  # rates are divided once for a row
    assert 4 * features * WIDTH < dates.learned < 4 * features * WIDTH + 2 * 17 * 10  # two products


def test_intervals_by_hand() -> None:
    """More than a plain attention: each query with 257 keys and values, and the pairs' intervals."""
    cost, buckets = count_addition(Intervals()), 257
    assert cost.parameters == 2 * (buckets + LENGTH) * WIDTH
    positions, scale = 2 * WIDTH, 5  # added to keys and values; gap, size, equal, filled, smallest so far
    meeting, pairs = 2 * buckets * WIDTH, LENGTH * (4 + 2 * HEADS)  # gap, size, division, clip; two sums
    assert cost.forward == Arithmetic(positions + scale + 2 * meeting + pairs + WIDTH, 0)
    # A product's gradient is two products, one of them the vectors'; of logits and weights there is a sum.
    assert cost.features.operations == 2 * meeting + LENGTH * 2 * HEADS + WIDTH
    assert cost.learned == 2 * meeting
    few = count_addition(Intervals(num_intervals=10))
    assert cost.forward.operations - few.forward.operations == 2 * 2 * (buckets - 11) * WIDTH


def test_everything_is_counted() -> None:
    encodings, additions = every_encoding(), every_addition()
    assert set(encodings) == set(roll_call("encodings", Encoding))  # type: ignore[type-abstract]
    assert next(iter(encodings)) == "rope"
    kinds: list[type] = [BiasRecipe, InputRecipe]
    assert set(additions) == {"intervals", *(name for kind in kinds for name in roll_call("encodings", kind))}
    found = bench_encodings(timed=False)
    assert [row.name for row in found.rows] == [*encodings, *additions] == list(everything_counted())
    assert all(row.ratio is None for row in found.rows)
    assert [row.name for row in found.rows if row.rotates] == list(encodings)
    kept = json.loads(json.dumps(found.to_dict()))["encodings"]
    by_name = {row["name"]: row for row in kept}
    assert by_name["time_bias"]["kind"] == by_name["intervals"]["kind"] == "addition"
    assert by_name["rope"]["kind"] == "rotation"
    assert by_name["position_bias"]["forward"] == {"operations": 1200, "cosines": 0}
    assert by_name["position_bias"]["backward"] == {"features": 0, "learned": 800}
    assert by_name["intervals"]["recipe"]["recipe"] == "attention.intervals"


def test_the_table_has_them_all_and_says_what_is_no_rotation(capsys: pytest.CaptureFixture[str]) -> None:
    show_encodings(bench_encodings(encodings={"rope": RoPE(), "time_bias": TimeBias()}, timed=False))
    out = capsys.readouterr().out
    lines = {cells[1]: cells for line in out.splitlines() if len(cells := line.split()) > 10}
    assert lines["time_bias"][3:10:2] == ["528", "0", "3,400", "1,000"]
    assert "Not rotations, and not timed" in " ".join(out.split())
    show_encodings(bench_encodings(encodings={"rope": RoPE()}, timed=False))
    assert "Not rotations" not in " ".join(capsys.readouterr().out.split())


def test_what_is_no_rotation_is_not_timed(unchecked_shapes: None) -> None:
    told: list[str] = []
    found = bench_encodings(
        encodings={"calendar": Calendar()}, rounds=2, on_progress=lambda name, *_: told.append(name)
    )
    assert found.rows[0].timing is None
    assert not told


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
        (lambda: count_addition(RoPE()), "cost of RoPE: expected a bias, an input or intervals"),
    ],
)
def test_what_cannot_be_measured_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        wrong()
