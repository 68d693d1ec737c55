"""What every bias of pairs owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

import copy
import tomllib
from dataclasses import dataclass

import numpy as np
import pytest
import tomli_w
import torch
from torch import Tensor

from roll_call import roll_call
from rota.batch import Window, collate
from rota.encodings import BiasRecipe, LogitBias, PositionBias, TimeBias
from rota.errors import InputError
from rota.rooms import find
from rota.tables import from_table, to_table

NOW, BATCH, LENGTH, MAX_LEN, HEADS = 1_700_000_000, 3, 7, 12, 4


@dataclass(frozen=True)
class Example:
    """A bias and what it promises beyond the contract.

    Attributes:
        recipe: The recipe.
        relative: Only gaps of times and distances of positions matter.
    """

    recipe: BiasRecipe
    relative: bool = True


EXAMPLES: dict[str, dict[str, Example]] = {
    "time_bias": {
        "published": Example(TimeBias()),
        "time alone": Example(TimeBias(position=False)),
        "minutes": Example(TimeBias(num_buckets=40, bucket_base=2.0, bucket_unit="1min", spread=0.5)),
    },
    "position_bias": {"published": Example(PositionBias())},
}
EVERY = pytest.mark.parametrize(
    "example",
    [pytest.param(e, id=f"{room}-{name}") for room, few in EXAMPLES.items() for name, e in few.items()],
)


def build(recipe: BiasRecipe, **changed: object) -> LogitBias:
    sizes = {"max_len": MAX_LEN, "num_heads": HEADS, "layer": 1, "seed": 5, **changed}
    return recipe.build(**sizes)  # type: ignore[arg-type]


def times(seed: int = 0, ticks: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randint(0, 6_000_000, (BATCH, LENGTH), generator=generator).sort(-1).values
    return (NOW + steps) * ticks


def biased(module: LogitBias, asked: Tensor | None = None, seen: Tensor | None = None) -> Tensor:
    asked, seen = times(1) if asked is None else asked, times(2) if seen is None else seen
    with torch.no_grad():
        return module(asked, seen).expand(BATCH, HEADS, LENGTH, LENGTH)


def test_every_bias_has_an_example() -> None:
    assert set(roll_call("encodings", BiasRecipe)) == set(EXAMPLES)  # type: ignore[type-abstract]
    for name, few in EXAMPLES.items():
        kind = find("encodings", name, BiasRecipe)  # type: ignore[type-abstract]
        assert all(type(example.recipe) is kind for example in few.values())


@EVERY
def test_a_shift_of_all_times_or_positions_changes_no_bit(example: Example) -> None:
    module = build(example.recipe)
    before = biased(module)
    for shift in (10**9, -(10**9), 12_345):
        assert torch.equal(biased(module, times(1) + shift, times(2) + shift), before) == example.relative
    place = torch.arange(LENGTH)
    moved = module(times(1), times(2), place + 1000, place + 1000).expand_as(before)
    assert torch.equal(moved.detach(), before) == example.relative


@EVERY
def test_a_pair_is_biased_by_its_own_times_and_positions_alone(example: Example) -> None:
    module, asked, seen, place = build(example.recipe), times(1), times(2), torch.arange(LENGTH)
    whole = biased(module)
    for row, i, j in ((0, 6, 0), (1, 3, 3), (2, 5, 4)):
        alone = module(
            asked[row : row + 1, i : i + 1],
            seen[row : row + 1, j : j + 1],
            place[i : i + 1],
            place[j : j + 1],
        )
        assert alone.shape[-2:] == (1, 1)
        assert torch.equal(alone.detach().expand(1, HEADS, 1, 1)[0, :, 0, 0], whole[row, :, i, j])
    per_row = place.expand(BATCH, -1)
    assert torch.equal(module(asked, seen, per_row, per_row).expand_as(whole).detach(), whole)
    last = module(asked[:, -1:], seen, place[-1:], place).expand(BATCH, HEADS, 1, LENGTH)
    assert torch.equal(last.detach(), whole[:, :, -1:])


@EVERY
@pytest.mark.parametrize("access", ["history", "request"])
def test_padding_and_other_users_change_nothing(example: Example, access: str) -> None:
    """A jagged batch against its rows one by one: each row's query times are shifted within the row."""
    module = build(example.recipe)
    rows = [[0, 10, 500], [70], [3, 3, 90_000, 10**7, 2 * 10**7]]
    windows = [
        Window(np.arange(len(row)), NOW + np.array(row), NOW + np.array([*row[1:], row[-1] + 5]))
        for row in rows
    ]
    batch = collate(windows, access)
    together = module(batch.query_time, batch.key_time).expand(len(rows), HEADS, 5, 5)
    for at, window in enumerate(windows):
        own, length = collate([window], access), len(window.items)
        alone = module(own.query_time, own.key_time).expand(1, HEADS, length, length)
        assert torch.equal(together[at, :, :length, :length], alone[0])


@EVERY
def test_it_is_a_function_of_seed_and_layer_and_touches_no_global_generator(example: Example) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    wanted = biased(build(example.recipe))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(biased(build(example.recipe)), wanted)
    for changed in ({"seed": 6}, {"layer": 2}):
        assert not torch.equal(biased(build(example.recipe, **changed)), wanted)


@EVERY
def test_one_toml_table_rebuilds_it(example: Example) -> None:
    text = tomli_w.dumps(to_table(example.recipe))
    rebuilt = from_table(tomllib.loads(text), BiasRecipe)  # type: ignore[type-abstract]
    assert rebuilt == example.recipe
    assert hash(rebuilt) == hash(example.recipe)
    assert torch.equal(biased(build(rebuilt)), biased(build(example.recipe)))


@EVERY
@pytest.mark.parametrize("cast", ["bfloat16", "half", "double"])
def test_a_cast_rounds_the_learned_numbers_and_nothing_of_the_clock(example: Example, cast: str) -> None:
    module = build(example.recipe)
    wanted = getattr(biased(module), cast)()
    getattr(module, cast)()
    got = biased(module)
    assert got.dtype == wanted.dtype
    tolerance = 1e-2 if cast != "double" else 1e-7
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(biased(module), got)


@EVERY
@pytest.mark.parametrize(("unit", "ticks"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_the_unit_of_the_clock_does_not_matter(example: Example, unit: str, ticks: int) -> None:
    finer = biased(build(example.recipe, unit=unit), times(1, ticks), times(2, ticks))
    assert torch.equal(finer, biased(build(example.recipe)))


@EVERY
def test_a_checkpoint_brings_it(example: Example) -> None:
    wanted, other = build(example.recipe), build(example.recipe, seed=77)
    other.load_state_dict(wanted.state_dict())
    assert torch.equal(biased(other), biased(wanted))
    assert torch.equal(biased(copy.deepcopy(wanted)), biased(wanted))


@EVERY
def test_every_number_that_was_read_gets_its_gradient(example: Example) -> None:
    module = build(example.recipe)
    module(times(1), times(2)).sum().backward()
    for parameter in module.parameters():
        assert parameter.grad is not None
        pairs = BATCH * LENGTH**2 if example.recipe.needs_clock else LENGTH**2
        assert float(parameter.grad.sum()) == pytest.approx(pairs)


@EVERY
def test_missing_times_are_refused(example: Example) -> None:
    module = build(example.recipe)
    assert module.needs_clock == example.recipe.needs_clock
    place = torch.arange(LENGTH)
    if not module.needs_clock:
        assert torch.equal(module(None, None, place, place), module(times(1), times(2))[:1])
        with pytest.raises(InputError, match="needs the position of each query: pass query_position"):
            module(None, None)
        return
    with pytest.raises(InputError, match="needs the time of each query"):
        module(None, times(), place, place)
    with pytest.raises(InputError, match="needs the time of each key"):
        module(times(), None, place, place)


@EVERY
def test_float_times_are_refused(example: Example, unchecked_shapes: None) -> None:
    if example.recipe.needs_clock:
        with pytest.raises(InputError, match=r"time is torch\.float64: .* expects torch\.int64 clock ticks"):
            build(example.recipe)(times().double(), times().double())


@pytest.mark.slow
@EVERY
def test_compiled_equals_eager(example: Example, unchecked_shapes: None) -> None:
    module = build(example.recipe)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(times(1), times(2)), module(times(1), times(2)))


@EVERY
def test_sizes_that_do_not_fit_are_refused(example: Example) -> None:
    with pytest.raises(InputError, match="max_len 0: expected a whole number of at least 1"):
        build(example.recipe, max_len=0)
    if example.recipe.needs_clock:
        with pytest.raises(InputError, match="time unit 'min'"):
            build(example.recipe, unit="min")
