"""Numbers that kernels are given: text, truth values and lengths of time are refused in one line."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from rota.errors import InputError
from rota.kernels import Gaussian, Laplace, WeightedSum
from rota.kernels.amounts import plain, positive


@pytest.mark.parametrize(
    ("given", "number"),
    [(2, 2.0), (0.5, 0.5), (np.float32(0.5), 0.5), (np.int64(3), 3.0), (Fraction(1, 4), 0.25)],
)
def test_numbers(given: object, number: float) -> None:
    assert positive(given, "thing") == plain(given) == number
    assert type(positive(given, "thing")) is float


@pytest.mark.parametrize(
    "given", ["2", None, True, 1j, [1.0], np.timedelta64(1, "s"), 10**400, 0, -1.0, np.nan, np.inf], ids=repr
)
def test_what_is_no_positive_number(given: object) -> None:
    with pytest.raises(
        InputError, match=r"^thing .* of ours: expected a positive, finite number, like 3$"
    ) as caught:
        positive(given, "thing", "of ours", ", like 3")
    assert repr(given) in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [
        "VonMises('24h', '3')",
        "Matern('2h', '1.5')",
        "Matern('2h', [1.5])",
        "Rescaled(Cosine('24h'), '2')",
        "Cosine('24h').rescale('2')",
        "WeightedSum([Cosine('24h')], ['1'])",
        "Harmonics('24h', ['one'], [1.0])",
        "Smoothness('4', 1.0)",
        "Smoothness(2.5, 1.0)",
        "Smoothness(4, None)",
        "TailDecay('2', 1.0)",
    ],
)
def test_kernels_refuse_what_is_no_number(code: str) -> None:
    """Evaluated where no types are checked at run time, as a user meets it."""
    run = f"""
from rota.errors import InputError
from rota.kernels import *
try:
    {code}
except InputError as error:
    assert "expected" in str(error) and chr(10) not in str(error), error
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_weight_too_small_beside_the_total_is_refused_where_it_is_written() -> None:
    with pytest.raises(InputError, match=r"weight 9\.99989e-321 beside a total of 1e\+10: .* leave such"):
        Gaussian("2h") * 1e-320 + Laplace("2h") * 1e10
    with pytest.raises(InputError, match="at least 1e-15"):
        WeightedSum([Gaussian("2h"), Laplace("2h")], [1e-16, 1.0])
    small = WeightedSum([Gaussian("2h"), Laplace("2h")], [2e-15, 1.0])
    assert small.spectrum().weights.min() == pytest.approx(2e-15)
    assert float((Gaussian("2h") * 1e-320)(7200.0)) == pytest.approx(np.exp(-0.5))  # alone it is all there is
