"""Calling a function of someone else's: arrays or numbers, with its failures told in one line."""

import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.types import Float64Array

__all__: list[str] = []

_TARGET = re.compile(r"(?:[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PROBES = np.array([0.0, 1.0, -1.0, 3600.0, 86_400.0, -5e3, 1e6])  # s: does it take arrays?
_AT_ONCE = 16_384  # lags given at once: a function may make a matrix of them


@runtime_checkable
class ProfileFunction(Protocol):
    """Any Python callable of a lag in seconds; it may take arrays or numbers only."""

    def __call__(self, lag: Any, /) -> Any:
        """Value at a lag, a number, or at an array of them."""


@dataclass(frozen=True)
class Caller:
    """A function whose values are float64 arrays of the lags' shape, whatever it takes.

    Attributes:
        function: It.
        name: What messages call it.
        takes_arrays: Whether it gives the same of an array as of its numbers.
    """

    function: ProfileFunction
    name: str
    takes_arrays: bool

    def __call__(self, lag: ArrayLike) -> Float64Array:
        """Values at lags in seconds, any shape; where it is not finite they are nan or infinite.

        Raises:
            InputError: The function raises, or gives what is no real number; the lag is named.
        """
        lags = np.array(lag, np.float64)  # its own: a function may write into what it is given
        flat = lags.ravel()
        parts = [self._of(flat[first : first + _AT_ONCE]) for first in range(0, len(flat), _AT_ONCE)]
        return np.concatenate([*parts, np.empty(0)]).reshape(lags.shape)

    def _of(self, lags: Float64Array) -> Float64Array:
        if self.takes_arrays:
            values = _array(self.function, lags)
            if values is not None:
                return values
        values = _array(lambda many: [self.function(lag) for lag in many.tolist()], lags)
        if values is not None:
            return values
        return np.array([_number(self.function, self.name, lag) for lag in lags.tolist()], np.float64)


def caller_of(function: ProfileFunction, name: str) -> Caller:
    """Find out whether a function takes arrays.

    Raises:
        InputError: It raises even for one lag, or gives what is no real number.
    """
    plain = np.array([_number(function, name, lag) for lag in _PROBES.tolist()])
    together = _array(function, _PROBES.copy())
    same = together is not None and np.allclose(together, plain, rtol=1e-9, atol=1e-12, equal_nan=True)
    return Caller(function, name, same)


def imported(target: str) -> ProfileFunction:
    """The function of ``"module:name"``.

    Raises:
        InputError: There is no such module or name in it, or it is no function.
    """
    if not _TARGET.fullmatch(target):
        raise InputError(f'function {target!r}: expected "module:name", for instance "my_profiles:weekly"')
    module, _, name = target.partition(":")
    try:
        found: object = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what a module raises, sys.exit too, is the user's to read, in one line
        raise InputError(
            f"function {target!r}: module {module!r} cannot be imported ({_said(error)}); expected a "
            "module on Python's path"
        ) from error
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise InputError(f"function {target!r}: there is no {part!r} in {module!r}") from error
    if not isinstance(found, ProfileFunction):
        raise InputError(f"function {target!r} is {type(found).__name__}: expected what can be called")
    return found


def name_of(function: ProfileFunction | str) -> str:
    """What to call a function in a sentence: ``module:name`` where it has one."""
    if isinstance(function, str):
        return function
    if inspect.isfunction(function) or inspect.isclass(function):
        return f"{function.__module__}:{function.__qualname__}"
    text = str(function)
    return text if len(text) <= 80 and "\n" not in text else type(function).__name__


def _array(function: Callable[[Any], Any], lags: Float64Array) -> Float64Array | None:
    """Values of an array at once; ``None`` where it does not take one, which numbers then do or explain."""
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(function(lags.copy()))
        except KeyboardInterrupt:
            raise
        except BaseException:  # any: a function of numbers fails on arrays in its own way
            return None
    real = values.dtype.kind in "fiub" and values.shape == lags.shape
    return values.astype(np.float64) if real else None


def _number(function: Callable[[Any], Any], name: str, lag: float) -> float:
    with np.errstate(all="ignore"):
        try:
            value = np.asarray(function(lag))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit is no way to give a number either
            raise InputError(
                f"function {name} raises at a lag of {lag:g} s ({_said(error)}): expected a number at any lag"
            ) from error
    if value.dtype.kind not in "fiub" or value.size != 1:
        raise InputError(
            f"function {name} gives {value.dtype} of shape {value.shape} at a lag of {lag:g} s: expected one "
            "real number"
        )
    return float(value.reshape(()))


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
