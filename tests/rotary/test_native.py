"""The loops that numba compiles, against PyTorch's own operations and the reference."""

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.rotary import native, rotate, rotate_by, rotate_gathered, rotate_gathered_reference, unit_points
from rota.rotary import threads as team

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """These tests need numba, and say so. What they turn is small."""
    monkeypatch.setattr(native, "LEAST", 1)
    assert native.available(), "numba is not installed: pip install 'rota[fast]'"
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def plainly(work: Callable[[], Tensor]) -> Tensor:
    with native.plain_pytorch():
        return work()


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the loops that run from now on."""
    names: list[str] = []
    run = native._run

    def noting(name: str, *rest: object) -> None:
        names.append(name)
        run(name, *rest)

    monkeypatch.setattr(native, "_run", noting)
    return names


def close(found: Tensor, wanted: Tensor, x: Tensor) -> None:
    """Alike but for the last bit of a product, whose parts are no larger than the features."""
    bit = torch.finfo(x.dtype).eps * float(x.detach().abs().max())
    torch.testing.assert_close(found, wanted, rtol=0, atol=bit)


@DTYPES
@pytest.mark.parametrize("threads", [1, 2])  # three would cut rows in pieces
@pytest.mark.parametrize("shape", [(64, 4, 200, 64), (1, 1, 1, 32), (3, 2, 70, 32), (2, 1, 1000, 128)])
def test_bit_for_bit_as_whole_vectors_of_pytorch(
    shape: tuple[int, ...], dtype: torch.dtype, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of 16 pairs or more leave PyTorch nothing for its other loops."""
    torch.set_num_threads(threads)
    batch, heads, length, features = shape
    x = normal(*shape, dtype=dtype).transpose(1, 2).contiguous().transpose(1, 2)
    names = counted(monkeypatch)
    index = torch.randint(7, (heads, features // 2), generator=torch.Generator().manual_seed(1))
    few = unit_points(normal(batch, length, 7, seed=2, dtype=dtype), dtype)
    shared = unit_points(normal(batch, 1, length, features // 2, seed=3, dtype=dtype), dtype)
    for rotation in (lambda: rotate_gathered(x, few, index), lambda: rotate_by(x, shared)):
        assert torch.equal(rotation(), plainly(rotation))
    assert names == ["turn_gathered", "turn"]


@DTYPES
@pytest.mark.parametrize("features", [2, 6, 10, 34])
def test_rows_of_any_length(features: int, dtype: torch.dtype) -> None:
    x, index = normal(3, 2, 5, features, dtype=dtype), torch.arange(2 * (features // 2)).view(2, -1) % 4
    turns = normal(3, 5, 4, seed=1, dtype=dtype) / 8
    found = rotate_gathered(x, unit_points(turns, dtype), index)
    close(found, plainly(lambda: rotate_gathered(x, unit_points(turns, dtype), index)), x)
    exact, small = rotate_gathered_reference(x, turns, index), 1e-6 if dtype == torch.float32 else 1e-14
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=small)


def test_numbers_that_are_none_and_numbers_too_small() -> None:
    special = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-45, -1e-39, 3e38])
    x = torch.cartesian_prod(special, special).reshape(1, 1, 1, -1)
    points = torch.complex(special, special.flip(0)).repeat(8).view(1, 1, 1, -1)
    found, wanted = rotate_by(x, points), plainly(lambda: rotate_by(x, points))
    assert torch.equal(found.isnan(), wanted.isnan())
    assert torch.equal(found.nan_to_num(7), wanted.nan_to_num(7))


LAID_OUT = {
    "contiguous": lambda x: x,
    "tokens first": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "length first": lambda x: x.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3),
    "odd offset": lambda x: torch.cat((x.new_zeros(1), x.flatten()))[1:].view(x.shape),
    "odd rows": lambda x: torch.cat((x, x[..., :1]), -1)[..., :-1],
    "heads shared": lambda x: x[:, :1].expand(-1, 4, -1, -1),
    "part of a row": lambda x: torch.cat((x, x, x), -1)[..., x.shape[-1] : 2 * x.shape[-1]],
    "every second token": lambda x: x.repeat_interleave(2, 2)[:, :, ::2],
    "learnt": lambda x: x.clone().requires_grad_(),
    "a parameter": lambda x: torch.nn.Parameter(x.clone()),
}


@DTYPES
@pytest.mark.parametrize("laid_out", LAID_OUT)
def test_however_it_lies_in_memory(
    laid_out: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = LAID_OUT[laid_out](normal(3, 4, 70, 64, dtype=dtype))
    names, kept = counted(monkeypatch), x.detach().clone()
    index = torch.randint(7, (4, 32), generator=torch.Generator().manual_seed(1))
    few = unit_points(normal(3, 70, 7, seed=2, dtype=dtype), dtype)
    shared = unit_points(normal(3, 1, 70, 32, seed=3, dtype=dtype), dtype)
    each = unit_points(normal(3, 4, 70, 32, seed=4, dtype=dtype), dtype)
    alike = unit_points(normal(70, 32, seed=5, dtype=dtype), dtype)
    one = unit_points(normal(32, seed=6, dtype=dtype), dtype)
    for rotation in (
        lambda: rotate_gathered(x, few, index),
        *(lambda points=points: rotate_by(x, points) for points in (shared, each, alike, one)),
    ):
        close(rotation(), plainly(rotation), x)
    assert names == ["turn_gathered", "turn", "turn", "turn", "turn"]
    assert torch.equal(x, kept)


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=0, max_size=5),
    shared=st.lists(st.booleans(), min_size=5, max_size=5),
    order=st.permutations(range(5)),
)
def test_any_axes(sizes: list[int], shared: list[bool], order: list[int]) -> None:
    """Phases shared along any axes, of features whose axes lie in any order."""
    axes = [place for place in order if place < len(sizes)]
    x = normal(*(sizes[place] for place in axes), 8)
    x = x.permute(*(axes.index(place) for place in range(len(sizes))), len(sizes))
    turns = normal(*(1 if alike else n for n, alike in zip(sizes, shared, strict=False)), 4, seed=1)
    weight = normal(*x.shape, seed=2)
    found = []
    for plain in (False, True):
        a, t = x.clone().requires_grad_(), turns.clone().requires_grad_()
        if plain:
            with native.plain_pytorch():
                found.append((rotate(a, t), *torch.autograd.grad(rotate(a, t), (a, t), weight)))
        else:
            found.append((rotate(a, t), *torch.autograd.grad(rotate(a, t), (a, t), weight)))
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=2e-5)


@DTYPES
@pytest.mark.parametrize("shape", [(8, 1, 500, 32), (500, 32), (1, 1, 500, 32), (8, 4, 500, 32)])
def test_the_phase_gradient(
    shape: tuple[int, ...], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, weight = normal(8, 4, 500, 64, dtype=dtype), normal(8, 4, 500, 64, seed=1, dtype=dtype)
    turns, names = normal(*shape, seed=2, dtype=dtype).requires_grad_(), counted(monkeypatch)

    def gradient() -> Tensor:
        return torch.autograd.grad(rotate(x, turns), turns, weight)[0]

    found = gradient()
    assert names == ["turn", "sum_across"]
    exact = torch.autograd.grad(rotate(x.double(), turns.double()), turns, weight.double())[0]
    small = 2e-5 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(found, plainly(gradient), rtol=0, atol=8 * small)
    torch.testing.assert_close(found, exact.to(dtype), rtol=0, atol=8 * small)


@DTYPES
@pytest.mark.parametrize("features", [64, 70, 36])
@pytest.mark.parametrize("tokens_first", [True, False])
@pytest.mark.parametrize("shape", [(8, 1, 70, 32), (8, 4, 70, 32), (8, 4, 70, 17), (8, 1, 70, 3)])
def test_both_gradients_in_one_pass(
    shape: tuple[int, ...],
    features: int,
    dtype: torch.dtype,
    tokens_first: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The gradient of whole vectors of features has the bits of PyTorch's; the phases' is within rounding."""
    *_, pairs = shape
    if 2 * pairs > features:
        shape = (*shape[:-1], pairs := features // 2)
    laid_out = LAID_OUT["tokens first" if tokens_first else "contiguous"]
    x, weight = (laid_out(normal(8, 4, 70, features, seed=n, dtype=dtype)) for n in range(2))
    x, turns = x.requires_grad_(), normal(*shape, seed=2, dtype=dtype).requires_grad_()
    names = counted(monkeypatch)

    def gradients() -> tuple[Tensor, ...]:
        return torch.autograd.grad(rotate(x, turns), (x, turns), weight)

    found, wanted = gradients(), None
    assert names == ["turn", "turn_back"]
    with native.plain_pytorch():
        wanted = gradients()
    close(found[0], wanted[0], weight)
    if pairs % 16 == 0 and not tokens_first and features == 2 * pairs:
        assert torch.equal(found[0], wanted[0])
    assert torch.equal(found[0][..., 2 * pairs :], weight[..., 2 * pairs :])
    small = 2e-4 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(found[1], wanted[1], rtol=0, atol=small)
    (alone,) = torch.autograd.grad(rotate(x.detach(), turns), turns, weight)
    assert torch.equal(alone, found[1])


def test_gradients_that_no_loop_may_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One number for all features, or phases shared by batch and length but not by heads."""
    for shape, weight in (((2, 1, 5, 4), torch.ones(())), ((1, 3, 1, 4), normal(2, 3, 5, 8))):
        names = counted(monkeypatch)
        x, turns = normal(2, 3, 5, 8).requires_grad_(), normal(*shape, seed=1).requires_grad_()
        found = torch.autograd.grad(rotate(x, turns), (x, turns), weight.expand(2, 3, 5, 8))
        assert "turn_back" not in names
        exact = (x.detach().double().requires_grad_(), turns.detach().double().requires_grad_())
        wanted = torch.autograd.grad(rotate(*exact), exact, weight.expand(2, 3, 5, 8).double())
        for one, two in zip(found, wanted, strict=True):
            torch.testing.assert_close(one.double(), two, rtol=0, atol=1e-4)


def test_out_is_written_and_autograd_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    x, turns = normal(2, 3, 5, 8), normal(5, 4, seed=1)
    wanted, names = rotate(x, turns), counted(monkeypatch)
    out = torch.zeros(2, 3, 5, 9)[..., :8]
    assert rotate(x, turns, out=out) is out
    assert torch.equal(out, wanted)
    learnt = torch.ones(2, 3, 5, 8, requires_grad=True)
    kept = (learnt * out).sum()  # it keeps out for backward
    rotate(x, turns, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()
    assert names == ["turn", "turn"]
    assert torch.equal(rotate(x, turns, out=x), wanted)


def test_tensors_of_inference() -> None:
    turns = normal(5, 4, seed=1)
    with torch.inference_mode():
        x = normal(2, 3, 5, 8)
        inside = rotate(x, turns)
        rotate(x, turns, out=torch.empty_like(x))
    assert torch.equal(rotate(x, turns), inside)
    assert torch.equal(rotate(x, turns, out=torch.empty_like(x)), inside)


def test_views_that_negate_or_conjugate_are_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    names = counted(monkeypatch)
    x, points = normal(2, 3, 5, 8), unit_points(normal(5, 4, seed=1))
    negated = torch.complex(x, x).conj().imag
    assert negated.is_neg()
    torch.testing.assert_close(rotate_by(negated, points), rotate_by(-x, points), rtol=0, atol=1e-6)
    assert names == ["turn"]
    torch.testing.assert_close(rotate_by(rotate_by(x, points), points.conj()), x, rtol=0, atol=1e-6)
    assert names == ["turn", "turn"]


def test_an_index_beyond_the_points_is_an_error() -> None:
    points = unit_points(normal(2, 5, 3))
    for wrong in (3, -1, 2**40):
        with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
            rotate_gathered(normal(2, 1, 5, 2), points, torch.tensor([[wrong]]))


def test_a_gradient_of_a_gradient() -> None:
    x, turns = normal(2, 3, 6, dtype=torch.float64), normal(3, 3, seed=1, dtype=torch.float64)
    both = (x.requires_grad_(), turns.requires_grad_())
    assert torch.autograd.gradcheck(lambda a, b: rotate(a, b), both)
    assert torch.autograd.gradgradcheck(lambda a, b: rotate(a, b), both)


def test_several_threads_at_once() -> None:
    torch.set_num_threads(2)
    inputs = [(normal(8, 4, 100, 64, seed=n), normal(8, 1, 100, 32, seed=n + 9)) for n in range(6)]
    wanted = [rotate(*both) for both in inputs]
    start = threading.Barrier(6)

    def work(n: int) -> bool:
        start.wait()
        return all(torch.equal(rotate(*inputs[n]), wanted[n]) for _ in range(20))

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))


def test_the_same_bits_every_time() -> None:
    torch.set_num_threads(2)
    x, turns, weight = normal(8, 4, 500, 64), normal(8, 1, 500, 32, seed=1), normal(8, 4, 500, 64, seed=2)
    turns.requires_grad_()
    first = torch.autograd.grad(rotate(x, turns), turns, weight)[0]
    for threads in (1, 2, 2, 3):
        torch.set_num_threads(threads)
        assert torch.equal(torch.autograd.grad(rotate(x, turns), turns, weight)[0], first)


def printed(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, check=False, timeout=120, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ROTATE = """
import torch
from rota.rotary import native, rotate
x, turns = torch.ones(8, 4, 100, 64), torch.full((100, 32), 0.25)
wanted = torch.tensor([-1.0, 1.0]).repeat(32).expand_as(x)
def right(): return bool((rotate(x, turns) - wanted).abs().max() < 1e-6)
"""


@pytest.mark.slow
def test_a_forked_child_turns_alone() -> None:
    code = """
import os
torch.set_num_threads(2)
assert right()
child = os.fork()
if child == 0:
    torch.set_num_threads(1)  # PyTorch's own threads do not survive a fork either
    os._exit(0 if right() and native.available() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert printed(ROTATE + code) == "0"


@pytest.mark.slow
def test_at_exit_it_still_turns() -> None:
    assert (
        printed(ROTATE + "import atexit\nassert right()\natexit.register(lambda: print(right()))") == "True"
    )


@pytest.mark.slow
def test_it_is_switched_off_by_the_environment() -> None:
    code = ROTATE + "import sys\nprint(right(), native.available(), 'numba' in sys.modules)"
    assert printed(code, ROTA_NATIVE="0") == "True False False"
    assert printed(code, NUMBA_DISABLE_JIT="1").startswith("True False")
    assert printed(code) == "True True True"


@pytest.mark.slow
def test_no_folder_can_be_written(tmp_path: Path) -> None:
    """Compiled code is then not kept, and nobody is told."""
    package = tmp_path / "site" / "rota"
    package.parent.mkdir()
    source = Path(native.__file__).parent.parent
    package.symlink_to(source)
    code = ROTATE + "print(right(), native.available())"
    nowhere = str(tmp_path / "file" / "cache")
    (tmp_path / "file").write_text("no folder")
    assert printed(code, NUMBA_CACHE_DIR=nowhere, HOME=nowhere, XDG_CACHE_HOME=nowhere) == "True True"


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    names, find = counted(monkeypatch), importlib.util.find_spec
    x, turns = normal(2, 3, 5, 32), normal(5, 16, seed=1)
    wanted = rotate(x, turns)
    monkeypatch.setattr(native, "find_spec", lambda name: None if name == "numba" else find(name))
    native.available.cache_clear()
    try:
        assert not native.available()
        close(rotate(x, turns), wanted, x)
    finally:
        monkeypatch.undo()
        native.available.cache_clear()
    assert names == ["turn"]


def test_a_numba_that_cannot_be_imported_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> object:
        raise ImportError("Numba needs NumPy 2.3 or less")

    x, turns = normal(2, 3, 5, 32), normal(5, 16, seed=1)
    wanted = rotate(x, turns)
    with monkeypatch.context() as patch:
        patch.setattr(native.importlib, "import_module", fail)
        native.available.cache_clear()
        with pytest.warns(RuntimeWarning, match=r"NumPy 2\.3 or less\): rotations run in plain PyTorch"):
            close(rotate(x, turns), wanted, x)
        close(rotate(x, turns), wanted, x)
    native.available.cache_clear()


def test_small_inputs_are_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LEAST", 2**10)
    names, turns = counted(monkeypatch), normal(16, 16, seed=1)
    rotate(normal(2, 1, 16, 32), turns)
    assert names == ["turn"]
    rotate(normal(2, 1, 15, 32), turns[:15])
    assert names == ["turn"]


def test_without_a_team_large_inputs_are_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    names = counted(monkeypatch)
    monkeypatch.setattr(team, "team", lambda: None)
    torch.set_num_threads(2)
    large, turns = normal(8, 4, 500, 64), normal(500, 32, seed=1)
    rotate(large, turns)
    assert not names
    rotate(large[:1, :1, :3], turns[:3])
    torch.set_num_threads(1)
    rotate(large, turns)
    assert names == ["turn", "turn"]
