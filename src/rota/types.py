"""Array aliases: shapes and dtypes that recur in every room."""

from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

Duration = str | float | int | timedelta
"""A length of time: ``"24h"``, a number of seconds, or a ``timedelta``."""

Float64Array = NDArray[np.float64]
Complex128Array = NDArray[np.complex128]
Int64Array = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
