"""A measured profile: its parts, its words, and what it is not."""

import numpy as np
import pytest

from rota.errors import InputError
from rota.kernels import Constant, Harmonics, Laplace, Measured, WeightedSum, WrappedGaussian, parse_kernel

DAY = Harmonics("24h", [1, 2], [0.2, 0.1])
WHOLE = Measured(Constant() * 0.25 + DAY * 0.5 + Laplace("16h") * 0.2 + Laplace("8d") * 0.05)


def test_parts_are_shares_of_f_at_zero() -> None:
    assert WHOLE.static == pytest.approx(0.25)
    assert WHOLE.periodic == ((pytest.approx(0.5), DAY),)
    assert [(round(share, 12), part) for share, part in WHOLE.recency] == [
        (0.2, Laplace("16h")),
        (0.05, Laplace("8d")),
    ]
    halves = Measured(Constant() * 1.0 + Laplace("1h") * 1.0)  # weights are divided by their total
    assert halves.static == pytest.approx(0.5)
    assert Measured(Harmonics("24h", [0, 1], [0.4, 0.6])).static == pytest.approx(0.4)  # harmonic 0 stays too
    assert (Measured(Constant()).static, Measured(Constant()).periodic) == (1.0, ())


def test_it_is_what_it_sums() -> None:
    lags = np.linspace(0, 1e6, 500)
    np.testing.assert_array_equal(WHOLE(lags), WHOLE.kernel(lags))
    law, plain = WHOLE.spectrum(), WHOLE.kernel.spectrum()
    np.testing.assert_array_equal(law.characteristic(lags), plain.characteristic(lags))
    assert WHOLE.certificate().tolerance == 0
    written = "measured(constant() * 0.25 + harmonics(24h, [1, 2], [0.2, 0.1]) * 0.5 + laplace(16h) * 0.2"
    assert str(WHOLE) == f"{written} + laplace(8d) * 0.05)"
    assert parse_kernel(f"{WHOLE!s} * 0.5 + cosine(24h) * 0.5").kernels[0] == WHOLE  # type: ignore[attr-defined]


def test_its_words() -> None:
    assert WHOLE.in_words == "24h to harmonic 2 (50%), recency of 16h (20%), recency of 8d (5%), static (25%)"
    assert Measured(Constant()).in_words == "static (100%)"
    slight = Measured(
        Constant() * 0.98 + Laplace("2h") * 0.004 + Laplace("4h") * 0.012 + Laplace("8h") * 0.004
    )
    assert slight.in_words == "recency of 4h (1%), fainter recency (0.8%), static (98%)"


@pytest.mark.parametrize(
    "other", [WrappedGaussian("24h", "2h"), DAY * Laplace("3d"), WHOLE, WeightedSum([WHOLE, DAY], [1, 1])]
)
def test_other_profiles_are_refused(other: object) -> None:
    with pytest.raises(InputError, match="expected constant, harmonics and laplace") as refused:
        Measured(other)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
