"""Profiles as people write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import InputError
from rota.kernels import Cosine, WrappedGaussian, parse_kernel


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("cosine(24h)", Cosine("24h")),
        (" cosine ( 86400 ) ", Cosine("24h")),
        ("wrapped_gaussian(24h, 0.5h)", WrappedGaussian("24h", "30min")),
        ("wrapped_gaussian(7d,2h)", WrappedGaussian("7d", "2h")),
    ],
)
def test_reads(text: str, kernel: Cosine) -> None:
    assert parse_kernel(text) == kernel


def test_writes() -> None:
    assert str(WrappedGaussian("24h", "2h")) == "wrapped_gaussian(24h, 2h)"
    assert str(WrappedGaussian("24h", "0.5h")) == "wrapped_gaussian(24h, 0.5h)"
    assert str(Cosine("7d")) == "cosine(7d)"


@settings(deadline=None)
@given(period=st.floats(1e-3, 1e12), width=st.floats(1e-3, 1e12))
def test_what_is_written_is_read_back_exactly(period: float, width: float) -> None:
    kernel = WrappedGaussian(period, width)
    assert parse_kernel(str(kernel)) == kernel


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("24h", "expected a name and arguments"),
        ("cosine(24h", "expected a name and arguments"),
        ("cosine(cosine(24h))", "expected a name and arguments"),
        ("__import__('os')", "unknown name '__import__' in kernels"),
        ("gaussian_wrapped(24h)", r"unknown name .* expected one of cosine\b"),
        ("base(24h)", r"unknown name .* expected one of cosine\b"),
        ("wrapped_gaussian(24h)", r"expected wrapped_gaussian\(period, width\)"),
        ("cosine(24h, 2h)", r"expected cosine\(period\)"),
        ("cosine()", r"expected cosine\(period\)"),
        ("cosine(soon)", "duration 'soon'"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        parse_kernel(text)
    assert "\n" not in str(caught.value)
