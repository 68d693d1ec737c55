"""What a rotation by harmonics refuses; its numbers are ClockRoPE's tests."""

import inspect
from collections.abc import Callable

import pytest
import torch

from rota.encodings import ClockRoPE, HarmonicRotation, RealRotation
from rota.errors import InputError
from rota.kernels import WrappedGaussian


@pytest.mark.parametrize("period", [1, 0, -86_400])
def test_a_period_under_two_ticks_is_refused(period: int) -> None:
    with pytest.raises(
        InputError, match=f"period {period} is under two ticks of the unit 'ms': use a finer unit"
    ):
        HarmonicRotation(torch.ones(1, 2).long(), torch.tensor([86_400, period]), num_heads=1, unit="ms")


def draw(device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([[1, 5, 1], [2, 1, 5]], device=device), torch.tensor(
        [86_400, 3600, 86_400], device=device
    )


def model(device: str = "cpu") -> torch.nn.ModuleDict:
    rotation = HarmonicRotation(*draw(device), num_heads=2)
    return torch.nn.ModuleDict({"linear": torch.nn.Linear(2, 2, device=device), "rotation": rotation})


def turned(rotation: HarmonicRotation) -> torch.Tensor:
    x = torch.ones(1, 2, 4, 6)
    return rotation.rotate_query(x, time=torch.tensor([[5, 1_700_000_000, -3, 86_399]]))


def built_on_meta() -> torch.nn.ModuleDict:
    return model("meta")


def moved_to_meta() -> torch.nn.ModuleDict:
    return model().to("meta")


def emptied() -> torch.nn.ModuleDict:
    empty = model().to("meta").to_empty(device="cpu")
    empty["rotation"].periods.zero_()  # as fresh memory often is
    return empty


@pytest.mark.parametrize(
    "made", [built_on_meta, moved_to_meta, emptied], ids=lambda function: function.__name__
)
@pytest.mark.parametrize("assign", [True, False])
def test_shards_of_a_checkpoint_arrive_one_by_one(
    made: Callable[[], torch.nn.ModuleDict], assign: bool
) -> None:
    """The model is without memory, or has some that nothing has filled; the draw may be split over shards."""
    whole, target = model().state_dict(), made()
    shards = [{name: whole[name]} for name in sorted(whole)]
    assert len(shards) == 4
    for shard in shards:
        if target["rotation"].harmonics.is_meta and not assign:
            target.to_empty(device="cpu")
        target.load_state_dict(
            {name: value.clone() for name, value in shard.items()}, strict=False, assign=assign
        )
    assert torch.equal(turned(target["rotation"]), turned(model()["rotation"]))
    assert not any(buffer.is_meta for buffer in target.buffers())


def test_on_meta_it_says_the_shape_of_what_it_would_make() -> None:
    rotation = model("meta")["rotation"]
    out = rotation.rotate_query(
        torch.ones(1, 2, 4, 6, device="meta"), time=torch.zeros(1, 4, device="meta").long()
    )
    assert out.is_meta
    assert out.shape == (1, 2, 4, 6)


def test_a_recipe_draws_its_values_in_spite_of_meta() -> None:
    with torch.device("meta"):
        rotation = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=6, num_heads=2)
    assert torch.equal(
        turned(rotation), turned(ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=6, num_heads=2))
    )


@pytest.mark.parametrize("period", [1, 0, -86_400])
@pytest.mark.parametrize("assign", [True, False])
def test_a_checkpoint_with_a_period_under_two_ticks_is_refused(period: int, assign: bool) -> None:
    bad = model().state_dict()
    bad["rotation.periods"] = torch.tensor([86_400, period, 7])
    with pytest.raises(InputError, match=f"ClockRoPE: period {period} is under two ticks of the unit 's'"):
        model().load_state_dict(bad, assign=assign)


def test_harmonics_that_overflow_are_refused() -> None:
    with pytest.raises(InputError, match="harmonic times period reaches"):
        HarmonicRotation(torch.tensor([[3 * 10**5]]), torch.tensor([86_400 * 10**9]), num_heads=1, unit="ns")
    bad = model().state_dict()
    bad["rotation.harmonics"] = bad["rotation.harmonics"] << 50
    with pytest.raises(InputError, match="harmonic times period reaches"):
        model().load_state_dict(bad)


def test_real_frequencies_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="RFR has drawn nan cycles per second"):
        RealRotation(torch.tensor([[1.0, torch.nan]]).double(), num_heads=1)
    assert RealRotation(torch.ones(1, 2, device="meta").double(), num_heads=1).cycles_per_second.is_meta


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2, 4), (3, 2)])
def test_times_of_other_tokens_are_refused(shape: tuple[int, int]) -> None:
    module = HarmonicRotation(torch.ones(2, 4).long(), torch.full((4,), 86_400), num_heads=2)
    for rotate in (module.rotate_query, module.rotate_key):
        with pytest.raises(
            InputError, match=r"ClockRoPE expects \(batch, length\) \(2, 3\), one time for each"
        ):
            inspect.unwrap(rotate.__func__)(module, torch.zeros(2, 2, 3, 8), time=torch.zeros(shape).long())


def test_features_of_another_size_are_refused() -> None:
    module = HarmonicRotation(torch.ones(2, 4).long(), torch.full((4,), 86_400), num_heads=4)
    time = torch.zeros(2, 3).long()
    for x in (torch.zeros(2, 3, 3, 8), torch.zeros(2, 4, 3, 6)):
        with pytest.raises(InputError, match="built for 4 heads of 8 features"):
            module.rotate_query(x, time=time)
    with pytest.raises(InputError, match="built for 2 heads of 8 features"):
        module.rotate_key(torch.zeros(2, 4, 3, 8), time=time)


def alike(time: torch.Tensor) -> tuple[HarmonicRotation, torch.Tensor, torch.Tensor]:
    """A clock with fewer key heads, and features for it."""
    clock = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=16, num_heads=4, num_kv_heads=2)
    assert isinstance(clock, HarmonicRotation)
    generator = torch.Generator().manual_seed(0)
    return clock, *(torch.randn(2, heads, time.shape[1], 16, generator=generator) for heads in (4, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_points_are_computed_once_for_the_same_times(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit as for times that are equal, but not the same tensor; so are gradients."""
    time = torch.randint(10**9, 2 * 10**9, (2, 70), generator=torch.Generator().manual_seed(1))
    clock, q, k = alike(time)
    asked, turns = [], clock._turns

    def noting(ticks: torch.Tensor) -> torch.Tensor:
        asked.append(ticks)
        return turns(ticks)

    monkeypatch.setattr(clock, "_turns", noting)
    inputs = [q.to(dtype).requires_grad_(), k.requires_grad_()]  # of two kinds, but for float32
    found = []
    for other in (time, time.clone()):
        rotated = clock(*inputs, time, other)
        weights = [part.detach().flip(-1) for part in rotated]
        found.append([*rotated, *torch.autograd.grad(rotated, inputs, weights)])
    assert [ticks is time for ticks in asked] == [True, True, False]
    for one, two in zip(*found, strict=True):
        assert one.dtype == two.dtype
        assert torch.equal(one, two)
    position = torch.arange(70)
    clock(*inputs, time, time, position, position)
    assert len(asked) == 4
    clock(*inputs, time, time, position, position.clone())
    assert len(asked) == 6


def test_the_same_times_are_refused_as_others_are() -> None:
    clock, q, k = alike(torch.zeros(2, 5))
    with pytest.raises(InputError, match="needs the time of each query"):
        clock(q, k)
    with pytest.raises(InputError, match="was built for 2 heads of 16 features"):
        clock(q, q, torch.zeros(2, 5).long(), torch.zeros(2, 5).long())
    time = torch.zeros(2, 5).long()
    with pytest.raises(InputError, match="was built for 2 heads of 16 features"):
        clock(q, q, time, time)


@pytest.mark.slow
def test_a_graph_compiled_for_the_same_times_is_not_used_for_others(unchecked_shapes: None) -> None:
    time, other = torch.arange(10).view(2, 5) * 10**8, torch.arange(10).view(2, 5) * 10**7
    clock, q, k = alike(time)
    wanted = clock.rotate_query(q, time=time), clock.rotate_key(k, time=other)
    compiled = torch.compile(clock, fullgraph=True, backend="aot_eager")
    compiled(q, k, time, time)
    for one, two in zip(compiled(q, k, time, other), wanted, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-6)
