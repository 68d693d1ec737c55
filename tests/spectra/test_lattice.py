"""Lattice: masses on the harmonics of one period, by hand and by law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from rota.errors import InputError
from rota.spectra import Lattice


def lattice(masses: dict[int, float], period: float = 10.0) -> Lattice:
    return Lattice(period, np.array(sorted(masses)), np.array([masses[k] for k in sorted(masses)]))


LAW = lattice({-3: 0.1, 0: 0.2, 1: 0.3, 3: 0.4})

lattices = st.dictionaries(st.integers(-50, 50), st.floats(1e-3, 1), min_size=1, max_size=12).map(
    lambda weights: lattice({k: w / sum(weights.values()) for k, w in weights.items()})
)


def test_pmf_by_hand() -> None:
    np.testing.assert_array_equal(LAW.pmf([[-4, -3, -2], [0, 1, 3]]), [[0, 0.1, 0], [0.2, 0.3, 0.4]])
    assert LAW.pmf(1) == 0.3
    assert LAW.pmf(2.0) == 0


def test_characteristic_by_hand() -> None:
    # A quarter of the period: harmonic k is at k quarter turns.
    assert LAW.characteristic(2.5) == pytest.approx(0.1j + 0.2 + 0.3j - 0.4j, abs=1e-15)
    assert LAW.characteristic(10.0 * 10**8 + 2.5) == pytest.approx(0.2, abs=1e-15)


def test_quantile_by_hand() -> None:
    probabilities = [0.0, 0.0999, 0.1001, 0.2999, 0.3001, 0.5999, 0.6001, 0.99999]
    np.testing.assert_array_equal(LAW.harmonic_quantile(probabilities), [-3, -3, 0, 0, 1, 1, 3, 3])
    np.testing.assert_array_equal(LAW.quantile([[0.05], [0.7]]), [[-0.3], [0.3]])
    halves = lattice({0: 0.5, 1: 0.25, 2: 0.25})  # exact in binary: at a step, the next harmonic
    np.testing.assert_array_equal(halves.harmonic_quantile([0.5, 0.75]), [1, 2])
    assert LAW.harmonic_quantile(0.5).dtype == np.int64
    assert isinstance(LAW.quantile(0.5), np.ndarray)  # as the rest of the law does for one number


def test_spread_is_the_root_mean_square_harmonic() -> None:
    assert LAW.spread == pytest.approx(np.sqrt(0.1 * 9 + 0.3 + 0.4 * 9))


def test_fold_by_hand() -> None:
    folded = LAW.fold()
    np.testing.assert_array_equal(folded.harmonics, [0, 1, 3])
    np.testing.assert_allclose(folded.masses, [0.2, 0.3, 0.5], rtol=1e-15)
    assert folded.period == 10.0


def test_truncate_by_hand() -> None:
    cut = LAW.truncate(1)
    np.testing.assert_array_equal(cut.harmonics, [0, 1])
    np.testing.assert_allclose(cut.masses, [0.4, 0.6], rtol=1e-15)
    assert cut.mass_cut == pytest.approx(0.5)
    again = cut.truncate(0)
    np.testing.assert_array_equal(again.pmf([0, 1]), [1, 0])
    assert again.mass_cut == pytest.approx(0.8)  # of the law that came first
    assert LAW.truncate().mass_cut == pytest.approx(0)  # ceil(3 * 2.19) keeps all


@settings(deadline=None)
@given(law=lattices)
def test_fold_doubles_symmetric_mass_and_keeps_the_rest(law: Lattice) -> None:
    folded = law.fold()
    assert folded.masses.sum() == pytest.approx(1, abs=1e-12)
    for k in range(51):
        both = law.pmf(k) + (law.pmf(-k) if k else 0)
        assert folded.pmf(k) == pytest.approx(float(both), abs=1e-15)
    assert (folded.harmonics >= 0).all()
    assert folded.spread == pytest.approx(law.spread)


@settings(deadline=None)
@given(law=lattices, s=st.integers(0, 60))
def test_truncation_keeps_proportions_and_commutes_with_folding(law: Lattice, s: int) -> None:
    if not law.pmf(np.arange(-s, s + 1)).any():
        with pytest.raises(InputError, match="leaves no mass"):
            law.truncate(s)
        return
    cut = law.truncate(s)
    kept = law.pmf(np.arange(-s, s + 1))
    np.testing.assert_allclose(cut.pmf(np.arange(-s, s + 1)), kept / kept.sum(), rtol=1e-9)
    assert cut.mass_cut == pytest.approx(1 - kept.sum(), abs=1e-12)
    assert np.abs(cut.harmonics).max() <= s
    np.testing.assert_allclose(cut.fold().pmf(np.arange(61)), law.fold().truncate(s).pmf(np.arange(61)))


@settings(deadline=None)
@given(law=lattices, u=st.floats(0, 1, exclude_max=True))
def test_quantile_is_where_the_cumulative_mass_passes(law: Lattice, u: float) -> None:
    k = int(law.harmonic_quantile(u))
    below = law.masses[law.harmonics < k].sum()
    assert below <= u + 1e-12
    assert below + law.pmf(k) > u - 1e-12


@pytest.mark.parametrize(
    ("period", "harmonics", "masses", "says"),
    [
        (10.0, [1, 0], [0.5, 0.5], "ascending"),
        (10.0, [1, 1], [0.5, 0.5], "ascending"),
        (10.0, [0, 1], [1.0], "one mass for each"),
        (10.0, [0, 1], [-0.5, 1.5], "not negative"),
        (10.0, [0, 1], [0.5, 0.4], "sum to 1"),
        (10.0, [0, 1], [float("nan"), 0.5], "sum to 1"),
        (0.0, [0, 1], [0.5, 0.5], "period 0.0"),
        (float("nan"), [0, 1], [0.5, 0.5], "period nan"),
    ],
)
def test_what_is_no_law_is_refused(
    period: float, harmonics: list[int], masses: list[float], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        Lattice(period, np.array(harmonics), np.array(masses))


def test_a_fraction_of_a_harmonic_is_no_harmonic() -> None:
    for wrong in ([0.5, 1.5], [0, float("nan")]):
        with pytest.raises((InputError, TypeCheckError), match=r"no integers|harmonics"):
            Lattice(10.0, np.array(wrong), np.array([0.5, 0.5]))


def test_fractions_of_a_harmonic_and_empty_truncations_are_refused() -> None:
    with pytest.raises(InputError, match="no integers"):
        LAW.pmf(0.5)
    with pytest.raises(InputError, match="larger s"):
        LAW.truncate(-1)
    with pytest.raises(InputError, match="larger s"):
        lattice({-2: 0.5, 2: 0.5}).truncate(1)
