"""The algebra is closed: whatever is made of admissible profiles is one, with the law that it should have."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rota.kernels import (
    Constant,
    Cosine,
    Gaussian,
    Kernel,
    Laplace,
    Product,
    Rescaled,
    VonMises,
    WeightedSum,
    WrappedGaussian,
    certify,
)

HOUR = 3600.0
LAGS = np.concatenate([np.linspace(-90, 90, 37) * HOUR, [1e9]])
EVEN = (np.arange(4000) + 0.5) / 4000

# Trees are described by the strategy and built by the test: building checks types, which draws at random.
Tree = tuple[object, ...]
PERIODIC = st.tuples(st.sampled_from(["cosine", "wrapped", "mises"]), st.floats(2, 200), st.floats(0.1, 1))
DECAYING = st.tuples(st.sampled_from(["gaussian", "laplace"]), st.floats(2, 200), st.floats(0.1, 1))
FACTORS = st.tuples(st.just("product"), PERIODIC, PERIODIC | DECAYING | st.just(("constant",)))
LEAVES = PERIODIC | DECAYING | FACTORS | st.tuples(st.just("product"), DECAYING, DECAYING)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(st.just("sum"), inner, inner, st.floats(0.01, 0.99))
        | st.tuples(st.just("rescaled"), inner, st.floats(0.1, 10))
        | st.tuples(st.just("product"), inner, PERIODIC)
    ),
    max_leaves=3,
)


def build(tree: Tree) -> Kernel:
    match tree:
        case ("constant",):
            return Constant()
        case ("cosine", float(period), _):
            return Cosine(period * HOUR)
        case ("wrapped", float(period), float(share)):
            return WrappedGaussian(period * HOUR, share * period * HOUR)
        case ("mises", float(period), float(share)):
            return VonMises(period * HOUR, 4 / share)
        case ("gaussian", float(width), _):
            return Gaussian(width * HOUR)
        case ("laplace", float(width), _):
            return Laplace(width * HOUR)
        case ("product", tuple(one), tuple(other)):
            return Product([build(one), build(other)])
        case ("rescaled", tuple(inner), float(factor)):
            return Rescaled(build(inner), factor)
        case ("sum", tuple(one), tuple(other), float(weight)):
            return WeightedSum([build(one), build(other)], [weight, 1 - weight])
    raise AssertionError(tree)


@pytest.mark.slow
@settings(max_examples=40)
@example(("product", ("wrapped", 2.0, 0.694), ("wrapped", 41.51317341855028, 0.694)))  # one period: 1e18 s
@example(  # no common period: rates that ought to be equal differ in their last bits
    (
        "product",
        ("product", ("wrapped", 43.79338836588996, 0.5), ("wrapped", 178.6778753831074, 0.1)),
        ("wrapped", 178.6778753831074, 0.1),
    )
)
@given(TREES)
def test_a_composed_profile_has_a_law_that_reproduces_it(tree: Tree) -> None:
    kernel = build(tree)
    values = kernel(LAGS)
    np.testing.assert_allclose(kernel(0), 1, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(-LAGS), values, rtol=0, atol=1e-12)
    assert np.abs(values).max() <= 1 + 1e-12
    gram = kernel(LAGS[:-1, None] - LAGS[:-1])
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() > -1e-9
    assert certify(kernel).verdict == "yes"
    law = kernel.spectrum()
    assert law.is_symmetric
    # At 1e9 s a lag has lost 1e-7 s, of a period of hours.
    np.testing.assert_allclose(law.characteristic(LAGS)[:-1], values[:-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(law.characteristic(LAGS)[-1], values[-1], rtol=0, atol=1e-6)
    for sweep in (law.quantile(EVEN), law.fold().quantile(EVEN)):
        mean = np.cos(2 * np.pi * sweep * LAGS[:-1, None]).mean(1)
        np.testing.assert_allclose(mean, values[:-1], rtol=0, atol=0.02)  # steps are wide on a heavy tail
