import numpy as np
import pytest

from rota.analysis import AttentionByGap, pool_curves
from rota.errors import InputError

EDGES = np.array([-0.5, 0.5, 1.5, 2.5])


def test_pairs_weigh_the_mean_and_empty_bins_stay_empty() -> None:
    first = AttentionByGap(EDGES, np.array([1.0, 4.0, np.nan]), np.array([1, 3, 0]))
    second = AttentionByGap(EDGES, np.array([2.0, np.nan, np.nan]), np.array([3, 0, 0]))
    pooled = pool_curves([first, second])
    np.testing.assert_array_equal(pooled.pairs, [4, 3, 0])
    np.testing.assert_allclose(pooled.relative, [7 / 4, 4.0, np.nan])
    np.testing.assert_array_equal(pooled.centres_hours, [0.0, 1.0, 2.0])


def test_curves_with_different_bins_are_not_pooled() -> None:
    curves = [AttentionByGap(EDGES * scale, np.ones(3), np.ones(3, dtype=np.int64)) for scale in (1.0, 2.0)]
    with pytest.raises(InputError, match="all with the same bins"):
        pool_curves(curves)
    with pytest.raises(InputError, match="expected one or more"):
        pool_curves([])
