"""What every encoding owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

import copy
import inspect
import math
import pickle
import tomllib
from dataclasses import dataclass

import numpy as np
import pytest
import tomli_w
import torch
from torch import Tensor

from roll_call import roll_call
from rota.encodings import (
    RFR,
    ROTE,
    ClockRoPE,
    Combination,
    Encoding,
    FoPE,
    HeadSplit,
    LearnableClock,
    LearnableRoPE,
    NoEncoding,
    RoPE,
    Rotation,
    SIRENRoPE,
    Split,
    TORoPE,
    TRoPE,
)
from rota.errors import InputError
from rota.kernels import Cosine, Gaussian, Laplace, WrappedGaussian
from rota.rooms import find
from rota.tables import from_table, to_table

DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")
HEAD_DIM, HEADS, BATCH, LENGTH = 32, 4, 3, 9
NOW = 1_700_000_000


@dataclass(frozen=True)
class Example:
    """An encoding and what it promises beyond the contract.

    Attributes:
        encoding: The recipe.
        random: Its rotation is a function of seed and layer; otherwise neither matters.
        relative: Only differences of times and of positions matter.
        unitary: It turns pairs and does no more: norms are kept, and of positions only the distance matters.
    """

    encoding: Encoding
    random: bool = True
    relative: bool = True
    unitary: bool = True


EXAMPLES: dict[str, dict[str, Example]] = {
    "none": {"none": Example(NoEncoding(), random=False)},
    "rope": {
        "rope": Example(RoPE(), random=False),
        "rope-500": Example(RoPE(base=500.0), random=False),
    },
    "clockrope": {
        "default": Example(ClockRoPE()),
        "one": Example(ClockRoPE([DAILY], fold=True)),
        "symmetric": Example(ClockRoPE([DAILY], fold=False)),
        "iid": Example(ClockRoPE([DAILY], method="iid")),
        "systematic": Example(ClockRoPE([DAILY], method="systematic", truncation=9)),
        "paper": Example(ClockRoPE([DAILY, WEEKLY], method="paper", truncation=6)),
        "two": Example(ClockRoPE([DAILY, WEEKLY], shares=[0.7, 0.3])),
        "three": Example(ClockRoPE([DAILY, WEEKLY, Cosine("1h")], fold=False, method="iid")),
        "cosine": Example(ClockRoPE([Cosine("24h")]), random=False),
    },
    "split": {
        "rope+clockrope": Example(Split([RoPE(), ClockRoPE([DAILY])])),
        "shares": Example(Split([RoPE(), ClockRoPE([DAILY, WEEKLY]), NoEncoding()], shares=[0.5, 0.4, 0.1])),
        "nested": Example(Split([Split([ClockRoPE(), NoEncoding()]), RoPE()])),
        "with trope": Example(Split([TRoPE(), RoPE()]), relative=False),
        "no clock": Example(Split([RoPE(), NoEncoding()]), random=False),
    },
    "head_split": {
        "rope+clockrope": Example(HeadSplit([RoPE(), ClockRoPE([DAILY, WEEKLY])])),
        "learned": Example(HeadSplit([Split([LearnableRoPE(), LearnableClock()]), ClockRoPE()])),
        "with trope": Example(HeadSplit([ClockRoPE([WEEKLY]), TRoPE()], shares=[0.5, 0.5]), relative=False),
    },
    "fope": {
        "published": Example(FoPE(), unitary=False),
        "short": Example(FoPE(train_length=40, base=500.0, gain=0.6), unitary=False),
    },
    "learnable_rope": {
        "rope": Example(LearnableRoPE(), random=False),
        "rope-500": Example(LearnableRoPE(base=500.0), random=False),
    },
    "siren": {
        "paper": Example(SIRENRoPE(), relative=False),
        "code": Example(SIRENRoPE(width=16, base=100_000.0), relative=False),
    },
    "rfr": {
        "densities": Example(RFR(Laplace("7d"))),
        "folded": Example(RFR(Gaussian("3h"), fold=True, truncation=1e-4, method="paper")),
        "periods": Example(RFR(DAILY * 0.7 + WEEKLY * 0.3)),
        "both": Example(RFR(DAILY * Laplace("7d"), fold=True, method="stratified")),
    },
    "learnable_clock": {
        "conditioned": Example(LearnableClock(ClockRoPE([DAILY, WEEKLY]), span="90d")),
        "paper": Example(LearnableClock(ClockRoPE([DAILY], fold=False), form="paper")),
    },
    "trope": {
        "trope": Example(TRoPE(), relative=False),
        "gap": Example(TRoPE(coefficients="tied", keys="stationary")),
        "sum": Example(TRoPE(coefficients="tied", keys="nonstationary"), relative=False),
        "keys alone": Example(TRoPE("5min", "365d", sides="key"), relative=False),
        "conditioned": Example(TRoPE(parametrisation="conditioned"), relative=False),
        "conditioned gap": Example(
            TRoPE(coefficients="tied", keys="stationary", parametrisation="conditioned", span="90d")
        ),
    },
    "torope": {
        "default": Example(TORoPE(), random=False),
        "early": Example(TORoPE("early", time_share=0.3), random=False),
        "dimension": Example(TORoPE("dimension", time_share=0.3, scale="1h"), random=False),
        "head": Example(TORoPE("head", learned=False), random=False),
    },
    "rote": {
        "request": Example(ROTE(), random=False),
        "previous": Example(ROTE("previous", scale="1h", learned=True), random=False),
        "time alone": Example(ROTE(position=False), random=False),
    },
}
EVERY = pytest.mark.parametrize(
    "example",
    [pytest.param(e, id=f"{room}-{name}") for room, few in EXAMPLES.items() for name, e in few.items()],
)


def build(encoding: Encoding, **changed: object) -> Rotation:
    sizes = {"head_dim": HEAD_DIM, "num_heads": HEADS, "layer": 1, "seed": 5, **changed}
    return encoding.build(**sizes)  # type: ignore[arg-type]


def normal(heads: int = HEADS, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, heads, LENGTH, HEAD_DIM, generator=generator).to(dtype)


def times(seed: int = 0) -> Tensor:
    """Sorted, as recent as today's, within ten weeks."""
    generator = torch.Generator().manual_seed(seed)
    return NOW + torch.randint(0, 6_000_000, (BATCH, LENGTH), generator=generator).sort(-1).values


def turned(module: Rotation, q: Tensor, k: Tensor, time: Tensor | None = None) -> tuple[Tensor, Tensor]:
    time = times() if time is None else time
    return module(q, k, query_time=time, key_time=time)


def logits(module: Rotation, q: Tensor, k: Tensor, time: Tensor, position: Tensor) -> Tensor:
    q, k = module(q, k, time, time, position, position)
    return (q @ k.mT).detach() / math.sqrt(HEAD_DIM)


def assert_same_rotation(one: Rotation, two: Rotation) -> None:
    for first, second in zip(
        turned(one, normal(), normal(seed=1)), turned(two, normal(), normal(seed=1)), strict=True
    ):
        assert torch.equal(first, second)


def test_every_encoding_has_an_example() -> None:
    assert set(roll_call("encodings", Encoding)) == set(EXAMPLES)  # type: ignore[type-abstract]
    for name, few in EXAMPLES.items():
        kind = find("encodings", name, Encoding)  # type: ignore[type-abstract]
        assert all(type(example.encoding) is kind for example in few.values())


@EVERY
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_norm_shape_and_dtype_are_kept(example: Example, dtype: torch.dtype) -> None:
    module = build(example.encoding)
    q, k = normal(dtype=dtype), normal(seed=1, dtype=dtype)
    before = q.clone(), k.clone()
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5}.get(dtype, 0.01)
    for x, out, kept in zip((q, k), turned(module, q, k), before, strict=True):
        assert out.dtype == dtype
        assert out.shape == x.shape
        after, wanted = out.double().norm(dim=-1), x.double().norm(dim=-1)
        if example.unitary:
            torch.testing.assert_close(after, wanted, rtol=tolerance, atol=0)
        else:
            assert not torch.allclose(after, wanted, rtol=0.05, atol=0)
        assert torch.equal(x, kept)


@EVERY
def test_query_and_key_are_rotated_each_on_its_own(example: Example) -> None:
    module = build(example.encoding)
    if not module.cacheable:  # by the other times of its row as well: see the tests of each
        return
    q, k, asked, seen = normal(), normal(seed=1), times(1), times(2)
    at_query, at_key = torch.arange(LENGTH) + 3, torch.arange(LENGTH) * 2
    both = module(q, k, query_time=asked, key_time=seen, query_position=at_query, key_position=at_key)
    assert torch.equal(both[0], module.rotate_query(q, time=asked, position=at_query))
    assert torch.equal(both[1], module.rotate_key(k, time=seen, position=at_key))
    per_row = at_key.expand(BATCH, -1)
    assert torch.equal(both[1], module.rotate_key(k, time=seen, position=per_row))
    plain = module.rotate_key(k, time=seen)
    assert torch.equal(plain, module.rotate_key(k, time=seen, position=torch.arange(LENGTH)))


@EVERY
def test_a_token_is_rotated_by_its_own_time_and_position_alone(example: Example) -> None:
    module, k, time = build(example.encoding), normal(), times()
    if not module.cacheable:
        return
    position = torch.arange(LENGTH)
    whole = module.rotate_key(k, time=time, position=position)
    cached = [
        module.rotate_key(k[1:2, :, i : i + 1], time=time[1:2, i : i + 1], position=position[i : i + 1])
        for i in range(LENGTH)
    ]
    torch.testing.assert_close(torch.cat(cached, 2), whole[1:2], rtol=0, atol=1e-6)
    moved = time.clone()
    moved[1, 4] += 12_345
    other = module.rotate_key(k, time=moved, position=position)
    same = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    same[1, 4] = False
    assert torch.equal(other.transpose(1, 2)[same], whole.transpose(1, 2)[same])
    assert torch.equal(other[1, :, 4], whole[1, :, 4]) == (not example.encoding.needs_clock)


@EVERY
def test_how_features_lie_in_memory_does_not_matter(example: Example) -> None:
    module, x = build(example.encoding), normal()
    projected = x.transpose(1, 2).contiguous().transpose(1, 2)
    packed = torch.cat((x, x), -1)[..., :HEAD_DIM]
    shifted = torch.cat((x.new_zeros(1), x.flatten()))[1:].view(x.shape)
    wanted = turned(module, x, x)
    for laid_out in (projected, packed, shifted):
        for got, want in zip(turned(module, laid_out, laid_out), wanted, strict=True):
            torch.testing.assert_close(got, want, rtol=0, atol=1e-6)  # products round in another order


@EVERY
def test_rotation_is_orthogonal_and_differentiable(example: Example) -> None:
    """Rotating two features alike keeps their product, so its gradient is the other feature.

    What is not unitary is still linear: the product is the gradient's with what it is the gradient of.
    """
    module, x, y = build(example.encoding), normal().requires_grad_(), normal(seed=1)
    for side in (0, 1):
        x.grad = None
        product = (turned(module, x, x)[side] * turned(module, y, y)[side]).sum()
        product.backward()
        if example.unitary:
            torch.testing.assert_close(x.grad, y, rtol=0, atol=1e-5)
        else:
            torch.testing.assert_close((x.grad * x).sum(), product, rtol=1e-4, atol=1e-4)


@EVERY
def test_time_and_positions_may_shift_together(example: Example) -> None:
    module = build(example.encoding, head_dim=HEAD_DIM)
    q, k, time, position = normal(), normal(seed=1), times(), torch.arange(LENGTH)
    before = logits(module, q, k, time, position)
    shifted = logits(module, q, k, time + 10**9, position)
    change = float((shifted - before).abs().max())
    assert change < 1e-5 if example.relative else change > 0.1
    later = logits(module, q, k, time, position + 1000)
    change = float((later - before).abs().max())
    assert change < 2e-5 if example.unitary else change > 0.1


@EVERY
def test_missing_and_float_times_are_refused(example: Example) -> None:
    module = build(example.encoding)
    assert module.needs_clock == example.encoding.needs_clock
    q, k = normal(), normal(seed=1)
    if not module.needs_clock:
        assert torch.equal(module(q, k)[0], turned(module, q, k)[0])
        return
    for missing in ({"query_time": times()}, {"key_time": times()}, {}):
        with pytest.raises(InputError, match=r"needs the time of each (query|key)") as caught:
            module(q, k, **missing)
        assert "\n" not in str(caught.value)
    for rotate in (module.rotate_query, module.rotate_key):
        bare = inspect.unwrap(rotate.__func__)  # type: ignore[attr-defined]  # without the tests' own checks
        if isinstance(example.encoding, Combination):  # its parts check
            continue
        for wrong in (torch.float64, torch.float32, torch.int32):
            with pytest.raises(InputError, match=r"expects torch\.int64 clock ticks"):
                bare(module, q, time=times().to(wrong))
        with pytest.raises(InputError, match=r"shape \(9,\): .* expects \(batch, length\)"):
            bare(module, q, time=times()[0])


@EVERY
def test_sizes_that_do_not_fit_are_refused(example: Example) -> None:
    for sizes, says in (
        ({"head_dim": 7}, "head_dim 7"),
        ({"head_dim": 0}, "head_dim 0"),
        ({"num_kv_heads": 3}, "num_kv_heads 3: expected a divisor of num_heads 4"),
        ({"num_kv_heads": 0}, "num_kv_heads 0"),
        ({"num_kv_heads": 8}, "num_kv_heads 8"),
    ):
        with pytest.raises(InputError, match=says):
            build(example.encoding, **sizes)


@EVERY
def test_one_toml_table_rebuilds_it(example: Example) -> None:
    text = tomli_w.dumps(to_table(example.encoding))
    rebuilt = from_table(tomllib.loads(text), Encoding)  # type: ignore[type-abstract]
    assert rebuilt == example.encoding
    assert hash(rebuilt) == hash(example.encoding)
    one, two = build(example.encoding), build(rebuilt)
    assert_same_rotation(one, two)
    for (name, first), (other, second) in zip(
        one.state_dict().items(), two.state_dict().items(), strict=True
    ):
        assert name == other
        assert torch.equal(first, second)


@EVERY
@pytest.mark.parametrize("cast", ["bfloat16", "half", "float", "double"])
def test_casting_a_model_does_not_round_what_rotates(example: Example, cast: str) -> None:
    module = build(example.encoding)
    before = {name: value.clone() for name, value in [*module.state_dict().items(), *module.named_buffers()]}
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), module)
    getattr(model, cast)()
    if cast == "bfloat16":
        model.to("cpu", torch.bfloat16)
        assert model[0].weight.dtype == torch.bfloat16
    after = dict([*module.state_dict().items(), *module.named_buffers()])
    assert set(after) == set(before)
    for name, value in before.items():
        assert after[name].dtype == value.dtype, name
        assert value.dtype in (torch.int64, torch.float64), name
        assert torch.equal(after[name], value), name
    assert_same_rotation(module, build(example.encoding))


@EVERY
def test_a_checkpoint_brings_its_rotation(example: Example) -> None:
    wanted, other = build(example.encoding), build(example.encoding, seed=77, layer=4)
    holder = torch.nn.ModuleDict({"rotation": other})
    holder.load_state_dict({f"rotation.{name}": value for name, value in wanted.state_dict().items()})
    assert_same_rotation(other, wanted)
    assert_same_rotation(pickle.loads(pickle.dumps(wanted)), wanted)
    copied = copy.deepcopy(wanted)
    assert_same_rotation(copied, wanted)
    again = build(example.encoding, seed=78)
    copied.load_state_dict(again.state_dict())  # a copy follows what it loads, not what it was copied from
    assert_same_rotation(copied, again)
    assert_same_rotation(wanted, build(example.encoding))


@EVERY
def test_it_is_a_function_of_seed_and_layer(example: Example) -> None:
    module = build(example.encoding)
    assert_same_rotation(module, build(example.encoding))
    for changed in ({"seed": 6}, {"layer": 2}, {"layer": 0}, {"seed": 0}):
        if example.random:
            with pytest.raises(AssertionError):
                assert_same_rotation(module, build(example.encoding, **changed))
        else:
            assert_same_rotation(module, build(example.encoding, **changed))


@EVERY
def test_nothing_touches_the_global_generators(example: Example) -> None:
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002
    before, before_numpy = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    turned(build(example.encoding), normal(), normal(seed=1))
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.get_state()[1], before_numpy)  # noqa: NPY002


@EVERY
def test_heads_of_a_group_share_their_keys_rotation(example: Example) -> None:
    module = build(example.encoding, num_kv_heads=2)
    alike = normal(1)
    q, k = turned(module, alike.expand(-1, 4, -1, -1), alike.expand(-1, 2, -1, -1))
    assert q.shape == (BATCH, 4, LENGTH, HEAD_DIM)
    assert k.shape == (BATCH, 2, LENGTH, HEAD_DIM)
    assert torch.equal(q[:, 0], q[:, 1])
    assert torch.equal(q[:, 2], q[:, 3])
    if example.relative:  # one rotation for queries and keys
        assert torch.equal(q[:, ::2], k)


@EVERY
@pytest.mark.parametrize(("unit", "ticks"), [("ms", 10**3), ("us", 10**6)])
def test_the_unit_of_the_clock_does_not_matter(example: Example, unit: str, ticks: int) -> None:
    seconds, finer = build(example.encoding), build(example.encoding, unit=unit)
    q, k = normal(), normal(seed=1)
    for one, two in zip(turned(seconds, q, k), turned(finer, q, k, times() * ticks), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-5)


@EVERY
def test_autocast_does_not_round_phases(example: Example) -> None:
    module, q, k = build(example.encoding), normal(), normal(seed=1)
    with torch.autocast("cpu", torch.bfloat16):
        inside = turned(module, q, k)
    for one, two in zip(inside, turned(module, q, k), strict=True):
        assert torch.equal(one, two)


@EVERY
def test_phases_hold_at_any_date(example: Example) -> None:
    """float64 features, rotated at the far past and future, differ from float32's by rounding alone."""
    module = build(example.encoding)
    for start in (-2_000_000_000, 0, NOW, 7_000_000_000):
        time = times() - NOW + start
        exact = turned(module, normal().double(), normal(seed=1).double(), time)
        for one, two in zip(turned(module, normal(), normal(seed=1), time), exact, strict=True):
            torch.testing.assert_close(one.double(), two, rtol=0, atol=1e-5)
