"""What must not move a phase by one bit, and what must never take part in making one."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from rota.encodings import ClockRoPE, Encoding, RoPE, Rotation, Split, TRoPE
from rota.kernels import Cosine, WrappedGaussian
from rota.rotary import rotate

DAILY = WrappedGaussian("24h", "2h")
ENCODINGS = {
    "rope": RoPE(),
    "clock": ClockRoPE([DAILY, Cosine("7d")]),
    "trope": TRoPE(),
    "split": Split([RoPE(), ClockRoPE([DAILY]), TRoPE()]),
}
EVERY = pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
TIME = 1_700_000_000 + torch.arange(12).view(2, 6) * 1_234_567


def build(encoding: Encoding) -> Rotation:
    return encoding.build(head_dim=24, num_heads=4, num_kv_heads=2, layer=1, seed=3)


def points(module: nn.Module, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Cosines and sines of all phases to the last bit: what it makes of (1, 0)."""
    q, k = (torch.zeros(2, heads, 6, 24, dtype=dtype) for heads in (4, 2))
    q[..., ::2], k[..., ::2] = 1, 1
    return module(q, k, TIME, TIME - 60)


def assert_same_bits(one: tuple[Tensor, ...], two: tuple[Tensor, ...]) -> None:
    for first, second in zip(one, two, strict=True):
        assert first.dtype == second.dtype
        assert torch.equal(first, second)


def under_autocast(module: Rotation) -> tuple[Tensor, Tensor]:
    with torch.autocast("cpu", torch.bfloat16):
        return points(module)


def as_bfloat16(module: Rotation) -> tuple[Tensor, Tensor]:
    model = nn.ModuleDict({"projection": nn.Linear(2, 2), "rotation": module})
    model.to(torch.bfloat16)
    assert model["projection"].weight.dtype == torch.bfloat16
    model.to("cpu", torch.float16).half().float()
    return points(module)


def from_a_checkpoint(module: Rotation) -> tuple[Tensor, Tensor]:
    other = copy.deepcopy(module)
    for name, value in other.state_dict().items():
        assert value.dtype in (torch.int64, torch.float64), name
        value.add_(1)
    other.load_state_dict(module.state_dict())
    return points(other)


def copied(module: Rotation) -> tuple[Tensor, Tensor]:
    return points(copy.deepcopy(module))


def default_bfloat16(module: Rotation) -> tuple[Tensor, Tensor]:
    torch.set_default_dtype(torch.bfloat16)
    try:
        return points(module)
    finally:
        torch.set_default_dtype(torch.float32)


def distributed(module: Rotation) -> tuple[Tensor, Tensor]:
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        holder = nn.Sequential(nn.Linear(2, 2), module)
        wrapped = nn.parallel.DistributedDataParallel(holder)
        return points(wrapped.module[1])
    finally:
        torch.distributed.destroy_process_group()


@EVERY
@pytest.mark.parametrize(
    "survived",
    [under_autocast, as_bfloat16, from_a_checkpoint, copied, default_bfloat16, distributed],
    ids=lambda function: function.__name__,
)
def test_the_same_turns_bit_for_bit(
    encoding: Encoding, survived: Callable[[Rotation], tuple[Tensor, Tensor]]
) -> None:
    before = points(build(encoding))
    assert_same_bits(survived(build(encoding)), before)


@EVERY
@pytest.mark.parametrize("assign", [False, True])
def test_built_without_memory_and_filled_from_the_recipe(encoding: Encoding, assign: bool) -> None:
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(2, 2), build(encoding)).to("meta")
    assert all(tensor.is_meta for tensor in (*model.parameters(), *model.buffers()))
    model.to_empty(device="cpu")
    model[1].load_state_dict(build(encoding).state_dict(), assign=assign)
    assert_same_bits(points(model[1]), points(build(encoding)))
    assert_same_bits(points(copy.deepcopy(model[1]).to(torch.bfloat16)), points(build(encoding)))


class Watch(TorchDispatchMode):
    """Which kernels ran, and the memory that they made."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: set[str] = set()
        self.made: dict[int, Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.kernels.add(func._schema.name)
        out = func(*args, **(kwargs or {}))
        if isinstance(out, Tensor):
            self.made[out.untyped_storage().data_ptr()] = out.untyped_storage()  # held, so no address recurs
        return out


PRODUCTS = (
    "mm",
    "bmm",
    "matmul",
    "einsum",
    "addmm",
    "baddbmm",
    "addbmm",
    "linear",
    "mv",
    "dot",
    "vdot",
    "tensordot",
)


@EVERY
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_no_matrix_product_takes_part(encoding: Encoding, dtype: torch.dtype) -> None:
    """So neither autocast nor TF32 can round a phase, forward or backward."""
    module = build(encoding)
    q, k = (torch.ones(2, heads, 6, 24, dtype=dtype, requires_grad=True) for heads in (4, 2))
    with torch.autocast("cpu", torch.bfloat16), Watch() as watch:
        out = module(q, k, TIME, TIME)
        sum(part.float().square().sum() for part in out).backward()
    assert "aten::cos" in watch.kernels
    assert not watch.kernels & {f"aten::{name}" for name in PRODUCTS}
    with Watch() as watch:
        q.flatten(0, 2).float() @ k.flatten(0, 2).float().T
    assert watch.kernels & {f"aten::{name}" for name in PRODUCTS}  # it would have been seen


@pytest.mark.parametrize("name", ["rope", "clock", "trope"])
def test_no_memory_of_the_outputs_size_but_the_outputs(name: str) -> None:
    module, q = build(ENCODINGS[name]), torch.randn(2, 4, 6, 24).repeat(1, 1, 50, 1)
    time = TIME.repeat(1, 50)
    with torch.no_grad():
        assert_only_the_output_is_large(lambda: module.rotate_query(q, time=time), q)


def odd_offset(x: Tensor) -> Tensor:
    return torch.cat((x.new_zeros(1), x.flatten()))[1:].view(x.shape)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("odd", [False, True], ids=["aligned", "odd offset"])
@pytest.mark.parametrize("how", ["clock", "rope", "interleaved", "half", "in place", "half in place"])
def test_scratch_memory_is_that_of_a_block(dtype: torch.dtype, odd: bool, how: str) -> None:
    """Neither widening nor alignment copies a large input whole, forward or backward."""
    q = torch.randn(6, 4, 1500, 72).to(dtype)
    q = odd_offset(q) if odd else q
    time, turns = TIME[:, :1] + torch.arange(1500) * 999, torch.rand(1500, 36)
    if how in ENCODINGS:
        module = ENCODINGS[how].build(head_dim=72, num_heads=4)
        work = lambda x: module.rotate_query(x, time=time[:1].expand(6, -1))  # noqa: E731
    else:
        layout = "half" if "half" in how else "interleaved"
        work = lambda x: rotate(x, turns, layout)  # noqa: E731
    if "place" in how:
        with torch.no_grad():
            assert_only_the_output_is_large(lambda: rotate(q, turns, layout, out=q), q)
        return
    out = assert_only_the_output_is_large(lambda: work(q.requires_grad_()), q)
    grad = odd_offset(torch.ones_like(out)) if odd else torch.ones_like(out)
    assert_only_the_output_is_large(lambda: torch.autograd.grad(out, q, grad)[0], q, grad)


def assert_only_the_output_is_large(work: Callable[[], Tensor], *inputs: Tensor) -> Tensor:
    with Watch() as watch:
        out = work()
    size = inputs[0].numel() * inputs[0].element_size()
    given = {tensor.untyped_storage().data_ptr() for tensor in inputs}
    large = {at for at, made in watch.made.items() if made.nbytes() >= size}
    assert large - given == {out.untyped_storage().data_ptr()} - given
    return out
