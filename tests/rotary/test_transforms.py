"""The rotation under PyTorch's transforms: func, nested tensors, export, compile, ONNX, attention kernels."""

import inspect
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.func import grad, jacrev, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.functional import scaled_dot_product_attention

from rota.encodings import ClockRoPE, Encoding, RoPE, Split, TRoPE
from rota.errors import InputError
from rota.kernels import Cosine, WrappedGaussian
from rota.rotary import rotate, rotate_reference
from rota.rotary.native import plain_pytorch

LAYOUTS = pytest.mark.parametrize("layout", ["interleaved", "half"])
DAILY = WrappedGaussian("24h", "2h")
ALL = Split([RoPE(), ClockRoPE([DAILY, Cosine("7d")]), TRoPE()])
HEAD_DIM, HEADS, KEY_HEADS = 24, 4, 2
Rotate = Callable[[Tensor, Tensor], Tensor]


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def phases(*shape: int, seed: int = 1) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 0.5


def build(encoding: Encoding) -> torch.nn.Module:
    return encoding.build(head_dim=HEAD_DIM, num_heads=HEADS, num_kv_heads=KEY_HEADS, seed=1).eval()


def tokens(batch: int, length: int, seed: int = 0) -> tuple[Tensor, ...]:
    """q, k and their times, before and after 1970."""
    generator = torch.Generator().manual_seed(seed)
    time = torch.randint(-2_000_000_000, 7_000_000_000, (batch, length), generator=generator)
    q, k = (torch.randn(batch, n, length, HEAD_DIM, generator=generator) for n in (HEADS, KEY_HEADS))
    return q, k, time + 60, time


def assert_alike(found: tuple[Tensor, ...], wanted: tuple[Tensor, ...], atol: float = 2e-6) -> None:
    for one, two in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=atol)


@LAYOUTS
@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0), (2, None), (-3, 1)])
def test_vmap(layout: str, dims: tuple[int | None, int | None]) -> None:
    x, turns = normal(3, 3, 3, 5, 9), phases(3, 3, 1, 5, 4)
    one_x = x if dims[0] is not None else x[0]
    one_turns = turns if dims[1] is not None else turns[0, :, :, :1]
    got = vmap(lambda a, b: rotate(a, b, layout), dims)(one_x, one_turns)
    for j in range(3):
        a = one_x if dims[0] is None else one_x.select(dims[0], j)
        b = one_turns if dims[1] is None else one_turns.select(dims[1], j)
        torch.testing.assert_close(got[j], rotate_reference(a, b, layout))


@LAYOUTS
def test_func_gradients(layout: str) -> None:
    x, turns = normal(3, 2, 5, 6), phases(3, 5, 3)

    def losses(rotation: Rotate) -> list[Tensor]:
        def loss(a: Tensor, b: Tensor) -> Tensor:
            return rotation(a, b).pow(3).sum()

        both = grad(loss, (0, 1))
        mapped = vmap(both, (0, 0))(x, turns)
        shared = vmap(both, (0, None))(x, turns[0])
        through = grad(lambda b: vmap(lambda a: loss(a, b))(x).sum())(turns[0])
        mixed = grad(lambda b: grad(loss)(x[0], b).square().sum())(turns[0])
        jacobian = jacrev(rotation, 1)(x[0], turns[0])
        return [*both(x[0], turns[0]), *mapped, *shared, through, mixed, jacobian]

    fast = losses(lambda a, b: rotate(a, b, layout))
    slow = losses(lambda a, b: rotate_reference(a, b, layout))
    for one, two in zip(fast, slow, strict=True):
        torch.testing.assert_close(one, two)


@LAYOUTS
@pytest.mark.parametrize("features", [6, 7])
def test_many_gradients_at_once(layout: str, features: int) -> None:
    """The older vmap, of torch.autograd, which knows no rules of autograd functions."""
    x, turns = normal(2, 2, 3, features).requires_grad_(), phases(2, 1, 3, 3).requires_grad_()

    def rotation(a: Tensor, b: Tensor) -> Tensor:
        return rotate(a, b, layout)

    assert torch.autograd.gradcheck(rotation, (x, turns), check_batched_grad=True)
    assert torch.autograd.gradgradcheck(rotation, (x, turns), check_batched_grad=True)
    both = torch.autograd.functional.jacobian
    for one, two in zip(both(rotation, (x, turns), vectorize=True), both(rotation, (x, turns)), strict=True):
        torch.testing.assert_close(one, two)


@LAYOUTS
def test_vmap_with_out(layout: str) -> None:
    x, turns = normal(3, 2, 5, 8), phases(5, 3)
    got = vmap(lambda a: rotate(a, turns, layout, out=torch.empty_like(a)))(x)
    torch.testing.assert_close(got, rotate_reference(x, turns, layout))


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_symbolic_graph(unchecked_shapes: None, layout: str, dtype: torch.dtype) -> None:
    x, turns = normal(2, 3, 5, 8).to(dtype), phases(5, 4).float()
    graph = make_fx(lambda a, b: rotate(a, b, layout), tracing_mode="symbolic")(x, turns)
    with plain_pytorch():  # whose operations a graph holds
        assert torch.equal(graph(x, turns), rotate(x, turns, layout))


def test_encodings_under_func() -> None:
    module, (q, k, asked, seen) = build(ALL), tokens(3, 5)
    weights = dict(module.named_parameters())

    def loss(parameters: dict[str, Tensor], a: Tensor, b: Tensor, s: Tensor, t: Tensor) -> Tensor:
        out = torch.func.functional_call(module, parameters, (a[None], b[None], s[None], t[None]))
        return sum(part.pow(3).sum() for part in out)

    each = vmap(grad(loss), (None, 0, 0, 0, 0))(weights, q, k, asked, seen)
    for row in range(3):
        for parameter in weights.values():
            parameter.grad = None
        loss(weights, q[row], k[row], asked[row], seen[row]).backward()
        for name, parameter in weights.items():
            torch.testing.assert_close(each[name][row], parameter.grad, rtol=1e-5, atol=1e-2)


@LAYOUTS
def test_jagged_nested_tensors(layout: str) -> None:
    rows = [normal(n, 4, 6, seed=n) for n in (3, 1, 5)]
    x = torch.nested.nested_tensor(rows, layout=torch.jagged, requires_grad=True)
    packed = phases(9, 1, 3)
    turns = torch.nested.nested_tensor_from_jagged(packed, x.offsets())
    out = rotate(x, turns, layout)
    wanted = rotate_reference(torch.cat(rows), packed, layout)
    torch.testing.assert_close(out.values(), wanted)
    assert out.shape == x.shape  # the same raggedness: the two may be added
    (out + x).values().sum().backward()
    back = rotate_reference(torch.ones(9, 4, 6), -packed, layout) + 1
    torch.testing.assert_close(x.grad.values(), back)
    by_heads = rotate(x.transpose(1, 2), turns.transpose(1, 2), layout)
    torch.testing.assert_close(by_heads.transpose(1, 2).values(), wanted)
    torch.testing.assert_close(rotate(x, packed, layout).values(), wanted)  # turns of the packed values


def test_nested_tensors_that_do_not_fit_are_refused() -> None:
    x = torch.nested.nested_tensor([normal(3, 6), normal(1, 6)], layout=torch.jagged)
    other = torch.nested.nested_tensor([phases(3, 3), phases(1, 3)], layout=torch.jagged)
    with pytest.raises(InputError, match="nested turns: expected the offsets of the features"):
        rotate(x, other)
    with pytest.raises(InputError, match="out cannot be used for nested features"):
        rotate(x, phases(4, 3), out=x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of strided nested tensors
        strided = torch.nested.nested_tensor([normal(3, 6), normal(1, 6)])
    with pytest.raises(InputError, match=r"layout torch\.strided: expected torch\.jagged"):
        inspect.unwrap(rotate)(strided, phases(4, 3))


def test_attention_of_rotated_queries_and_keys() -> None:
    """SDPA with grouped keys: the logits are those of the slow rotation."""
    module, (q, k, asked, seen) = build(ClockRoPE([DAILY])), tokens(2, 6)
    turned_q, turned_k = module(q, k, asked, seen)
    got = scaled_dot_product_attention(turned_q, turned_k, k, is_causal=True, enable_gqa=True)
    cycles = module.cycles_per_second
    slow_q, slow_k = (
        rotate_reference(x, (time[:, None, :, None] * cycles.repeat_interleave(group, 0)[None, :, None]) % 1)
        for x, time, group in ((q, asked, 2), (k, seen, 1))
    )
    logits = slow_q @ slow_k.repeat_interleave(2, 1).mT / HEAD_DIM**0.5
    hidden = torch.ones(6, 6, dtype=torch.bool).triu(1)
    weights = logits.masked_fill(hidden, -torch.inf).softmax(-1)
    wanted = weights @ k.double().repeat_interleave(2, 1)
    torch.testing.assert_close(got.double(), wanted, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", [ClockRoPE([DAILY]), ALL], ids=["clock", "all"])
def test_one_compilation_for_all_batches_and_lengths(unchecked_shapes: None, encoding: Encoding) -> None:
    graphs = []

    def counting(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
        graphs.append(graph)
        return graph

    module = build(encoding)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend=counting)
    # Not first a batch of as many rows as there are heads: PyTorch takes equal sizes for one and the same.
    for batch, length in ((3, 7), (2, 7), (5, 2), (2, 300), (4, 4), (64, 20)):
        given = tokens(batch, length)
        assert_alike(compiled(*given), module(*given))
    assert len(graphs) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")  # PyTorch's own
@LAYOUTS
def test_the_compiler_s_code(unchecked_shapes: None, layout: str) -> None:
    """Forward and backward of what inductor writes, phases learnt."""
    compiled = torch.compile(rotate, fullgraph=True, dynamic=True)
    for length in (5, 9):
        found = []
        for rotation in (compiled, rotate):
            x = normal(2, 3, length, 9).float().requires_grad_()
            turns = phases(2, 1, length, 4).float().requires_grad_()
            out = rotation(x, turns, layout)
            out.pow(3).sum().backward()
            found.append((out, x.grad, turns.grad))
        assert_alike(*found, atol=2e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")
def test_flex_attention(unchecked_shapes: None) -> None:
    """One graph of rotation and FlexAttention; forward, which is all that it can do on a CPU."""
    from torch.nn.attention.flex_attention import flex_attention

    module, (q, k, asked, seen) = build(Split([ClockRoPE([DAILY]), RoPE()])), tokens(2, 16)
    v = k.clone()

    def causal(score: Tensor, _: Tensor, __: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return torch.where(query >= key, score, -float("inf"))

    def attend(q: Tensor, k: Tensor) -> Tensor:
        turned_q, turned_k = module(q, k, asked, seen)
        return flex_attention(turned_q, turned_k, v, score_mod=causal, enable_gqa=True)

    with torch.no_grad():
        got = torch.compile(attend, fullgraph=True)(q, k)
        wanted = scaled_dot_product_attention(*module(q, k, asked, seen), v, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)


def dynamic() -> tuple[dict[int, object], ...]:
    size = torch.export.Dim.DYNAMIC
    return ({0: size, 2: size}, {0: size, 2: size}, {0: size, 1: size}, {0: size, 1: size})


@pytest.mark.slow
def test_export(unchecked_shapes: None) -> None:
    module = build(ALL)
    program = torch.export.export(module, tokens(3, 5), dynamic_shapes=dynamic())
    for batch, length in ((3, 5), (7, 2), (2, 11)):
        given = tokens(batch, length, seed=batch)
        assert_alike(program.module()(*given), module(*given))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.isinstance.treespec:FutureWarning")  # PyTorch's own
def test_onnx_runtime_agrees_from_int64_times(unchecked_shapes: None, tmp_path: object) -> None:
    import onnxruntime

    module, path = build(ALL), f"{tmp_path}/rotation.onnx"
    torch.onnx.export(
        module, tokens(3, 5), path, dynamo=True, dynamic_shapes=dynamic(), verbose=False,
        input_names=["q", "k", "query_time", "key_time"],
    )  # fmt: skip
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [entry.type for entry in session.get_inputs()][2:] == ["tensor(int64)"] * 2
    for batch, length in ((3, 5), (4, 9)):
        given = tokens(batch, length, seed=batch)
        names = (entry.name for entry in session.get_inputs())
        out = session.run(None, {name: x.numpy() for name, x in zip(names, given, strict=True)})
        with torch.no_grad():
            assert_alike(tuple(torch.from_numpy(part) for part in out), module(*given))
