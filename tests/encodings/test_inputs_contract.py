"""What every input feature owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

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
from rota.encodings import Calendar, FourierFeatures, InputFeature, InputRecipe, TimestampEmbedding
from rota.errors import InputError
from rota.rooms import find
from rota.tables import from_table, to_table

NOW, DIM, ROWS, LENGTH = 1_700_000_000, 12, 3, 7


@dataclass(frozen=True)
class Example:
    """An input feature and what it promises beyond the contract.

    Attributes:
        recipe: The recipe.
        period: A shift of both times by so many seconds changes nothing, or ``None``.
    """

    recipe: InputRecipe
    period: int | None = 604_800


EXAMPLES: dict[str, dict[str, Example]] = {
    "calendar": {"calendar": Example(Calendar())},
    "fourier_features": {
        "paper": Example(FourierFeatures()),
        "daily": Example(FourierFeatures(["24h"]), period=86_400),
        "odd": Example(FourierFeatures(["7s", "0.5h", 86_400]), period=7 * 86_400),
    },
    "timestamp_embedding": {
        "default": Example(TimestampEmbedding(), period=None),
        "fast": Example(TimestampEmbedding(waves=3, shortest="1min", longest="365d", origin=0), period=None),
    },
}
EVERY = pytest.mark.parametrize(
    "example",
    [pytest.param(e, id=f"{room}-{name}") for room, few in EXAMPLES.items() for name, e in few.items()],
)


def build(recipe: InputRecipe, unit: str = "s", seed: int = 0) -> InputFeature:
    torch.manual_seed(seed)
    return recipe.build(DIM, unit)


def times(seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return NOW + torch.randint(0, 60_000_000, (ROWS, LENGTH), generator=generator).sort(-1).values


def test_every_input_feature_has_an_example() -> None:
    assert set(roll_call("encodings", InputRecipe)) == set(EXAMPLES)  # type: ignore[type-abstract]
    for name, few in EXAMPLES.items():
        kind = find("encodings", name, InputRecipe)  # type: ignore[type-abstract]
        assert all(type(example.recipe) is kind for example in few.values())


@EVERY
def test_a_token_is_described_by_its_own_two_times_alone(example: Example) -> None:
    module, seen, asked = build(example.recipe), times(1), times(2)
    whole = module(seen, asked)
    assert whole.shape == (ROWS, LENGTH, DIM)
    for row, i in ((0, 0), (1, 6), (2, 3)):
        alone = module(seen[row : row + 1, i : i + 1], asked[row : row + 1, i : i + 1])
        torch.testing.assert_close(alone[0, 0], whole[row, i], rtol=0, atol=1e-6)
    for changed in (module(seen + 11 * 3600, asked), module(seen, asked + 11 * 3600)):
        different = (changed - whole).abs().amax(-1) > 1e-4
        assert different.all()
    assert module.sees_query_time


@EVERY
@pytest.mark.parametrize("access", ["history", "request"])
def test_padding_and_other_users_change_nothing(example: Example, access: str) -> None:
    module = build(example.recipe)
    rows = [[0, 10, 500], [70], [3, 3, 90_000, 10**7, 2 * 10**7]]
    windows = [
        Window(np.arange(len(row)), NOW + np.array(row), NOW + np.array([*row[1:], row[-1] + 5]))
        for row in rows
    ]
    batch = collate(windows, access)
    together = module(batch.key_time, batch.query_time)
    for at, window in enumerate(windows):
        own = collate([window], access)
        alone = module(own.key_time, own.query_time)[0]
        torch.testing.assert_close(together[at, : len(window.items)], alone, rtol=0, atol=1e-6)


@EVERY
def test_periodic_features_come_back_to_the_bit_and_dates_do_not(example: Example) -> None:
    module, seen, asked = build(example.recipe), times(1), times(2)
    before, shift = module(seen, asked), 1000 * (example.period or 604_800)
    after = module(seen + shift, asked + shift)
    if example.period is not None:
        assert torch.equal(after, before)
    else:
        assert float((after - before).detach().abs().max()) > 1e-3


@EVERY
@pytest.mark.parametrize(("unit", "ticks"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_the_unit_of_the_clock_does_not_matter(example: Example, unit: str, ticks: int) -> None:
    module, finer = build(example.recipe), build(example.recipe, unit)
    torch.testing.assert_close(
        finer(times(1) * ticks, times(2) * ticks), module(times(1), times(2)), rtol=0, atol=1e-6
    )


@EVERY
def test_one_toml_table_rebuilds_it(example: Example) -> None:
    text = tomli_w.dumps(to_table(example.recipe))
    rebuilt = from_table(tomllib.loads(text), InputRecipe)  # type: ignore[type-abstract]
    assert rebuilt == example.recipe
    assert hash(rebuilt) == hash(example.recipe)
    assert torch.equal(build(rebuilt)(times(1), times(2)), build(example.recipe)(times(1), times(2)))


@EVERY
def test_a_checkpoint_brings_it(example: Example) -> None:
    wanted, other = build(example.recipe), build(example.recipe, seed=1)
    given = times(1), times(2)
    assert not torch.equal(other(*given), wanted(*given))
    other.load_state_dict(wanted.state_dict())
    assert torch.equal(other(*given), wanted(*given))
    assert torch.equal(copy.deepcopy(wanted)(*given), wanted(*given))


@EVERY
@pytest.mark.parametrize("how", ["bfloat16", "half", "autocast"])
def test_low_precision_rounds_weights_and_not_the_clock(example: Example, how: str) -> None:
    """A rounded clock would be days off; rounded weights and features cost a percent of their size."""
    module = build(example.recipe)
    wanted = module(times(1), times(2)).detach()
    size = float(wanted.abs().max())
    if how == "autocast":
        with torch.autocast("cpu", torch.bfloat16):
            got = module(times(1), times(2))
    else:
        got = getattr(module, how)()(times(1), times(2))
        assert got.dtype == {"bfloat16": torch.bfloat16, "half": torch.float16}[how]
    torch.testing.assert_close(got.detach().float(), wanted, rtol=0, atol=0.02 * size)


@EVERY
def test_gradients_reach_every_parameter(example: Example) -> None:
    module = build(example.recipe)
    module(times(1), times(2)).square().sum().backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().sum() > 0, name


@EVERY
def test_missing_times_are_refused(example: Example) -> None:
    module = build(example.recipe)
    with pytest.raises(InputError, match=r"needs the time of each key: pass int64 clock ticks") as caught:
        module(None, times())
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"needs the time of each query: pass int64 clock ticks"):
        module(times(), None)


@EVERY
def test_float_times_are_refused(example: Example, unchecked_shapes: None) -> None:
    with pytest.raises(InputError, match=r"time is torch\.float64: .* expects torch\.int64 clock ticks"):
        build(example.recipe)(times().double(), times().double())


@pytest.mark.slow
@EVERY
def test_compiled_equals_eager(example: Example, unchecked_shapes: None) -> None:
    module = build(example.recipe)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(times(1), times(2)), module(times(1), times(2)), rtol=0, atol=1e-6)


@EVERY
def test_what_does_not_fit_is_refused(example: Example) -> None:
    with pytest.raises(InputError, match="embedding_dim 0: expected a whole number of at least 1"):
        example.recipe.build(0)
    with pytest.raises(InputError, match="time unit 'min'"):
        example.recipe.build(DIM, "min")


@EVERY
def test_a_width_that_is_not_whole_is_refused(example: Example, unchecked_shapes: None) -> None:
    with pytest.raises(InputError, match=r"embedding_dim 2\.5: expected a whole number of at least 1"):
        example.recipe.build(2.5)  # type: ignore[arg-type]
