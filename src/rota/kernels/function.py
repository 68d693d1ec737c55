"""Function kernel: any Python callable as a profile, its law computed from its values."""

from dataclasses import dataclass, fields
from functools import cached_property

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.calling import Caller, ProfileFunction, caller_of, imported, name_of
from rota.kernels.certificate import Certificate, Verdict
from rota.kernels.inversion import Inversion, invert_periodic
from rota.kernels.judging import judged
from rota.kernels.line_inversion import invert_on_line
from rota.kernels.smoothness import Smoothness
from rota.kernels.tail_decay import TailDecay
from rota.spectra.density import Density
from rota.spectra.lattice import Lattice
from rota.types import Duration, Float64Array
from rota.units import Lag, duration_text, lag_seconds, seconds

__all__ = ["FunctionKernel", "from_function"]

_ARRAY_POINTS, _NUMBER_POINTS = 2**17, 2**14  # samples where a call takes an array, and where numbers only


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """``f(lag) = function(lag)``, written ``function(module:name, 24h)``; see `from_function`.

    Attributes:
        function: A callable, or ``"module:name"`` of one, which alone can be kept in a table.
        period: ``"24h"``, seconds or a ``timedelta``, kept as seconds; ``None`` for one that dies away.
        smoothness: The caller's word on its derivatives.
        tail: Likewise on how it dies away.

    Raises:
        InputError: A tail is given beside a period, or a name is not ``"module:name"``.
    """

    function: str | ProfileFunction
    period: Duration | None = None
    smoothness: Smoothness | None = None
    tail: TailDecay | None = None

    def __post_init__(self) -> None:
        if self.period is not None:
            object.__setattr__(self, "period", seconds(self.period))
            if self.tail is not None:
                raise InputError(
                    "a tail beside a period: what is periodic does not die away; leave one of them out"
                )
        if isinstance(self.function, str) and ":" not in self.function:
            raise InputError(
                f'function {self.function!r}: expected "module:name", for instance "my_profiles:weekly"'
            )

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape.

        Raises:
            InputError: The function cannot be found, raises, or gives what is no real number.
        """
        return self._caller(lag_seconds(lag))

    def spectrum(self) -> Lattice | Density:
        """The law that is found; its ``sup_error`` says how well its profile is this one.

        Raises:
            InputError: The profile is seen not to be positive definite, or does not die away.
        """
        known = self.certificate()
        if known.verdict == Verdict.NO:
            raise InputError(f"{self} has no law: {known.reason}; `project` gives the nearest that has one")
        return self.inversion().law

    def inversion(self) -> Inversion:
        """The law by clipping and renormalising, even of what is not positive definite, and its error.

        Raises:
            InputError: A value is not finite, or the profile neither dies away nor has a period.
        """
        return self._inversion

    def certificate(self) -> Certificate:
        """No with a witness; yes where the caller's word bounds the distance to a law; else undecided."""
        return self._certificate

    def __str__(self) -> str:
        """Expression, for instance ``function(my:daily, 24h)``; `parse_kernel` reads back what has a name."""
        length = None if self._length is None else duration_text(self._length)
        rest = [length, self.smoothness, self.tail]
        while rest and rest[-1] is None:
            rest.pop()
        return f"function({', '.join([name_of(self.function), *(str(one) for one in rest)])})"

    def __reduce__(self) -> tuple[object, ...]:
        """What was computed is not pickled: it can be again."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def _length(self) -> float | None:
        return None if self.period is None else seconds(self.period)

    @cached_property
    def _caller(self) -> Caller:
        function = imported(self.function) if isinstance(self.function, str) else self.function
        return caller_of(function, name_of(self.function))

    @cached_property
    def _inversion(self) -> Inversion:
        points = _ARRAY_POINTS if self._caller.takes_arrays else _NUMBER_POINTS
        try:
            if self._length is not None:
                return invert_periodic(self, self._length, points, self.smoothness)
            return invert_on_line(self, points, self.smoothness, self.tail)
        except InputError as error:
            raise InputError(f"{self}: {error}") from error

    @cached_property
    def _certificate(self) -> Certificate:
        claims = [word.claim for word in (self.smoothness, self.tail) if word is not None]
        return judged(self, self._length, claims, self.inversion)


def from_function(
    f: ProfileFunction | str,
    period: Duration | None = None,
    *,
    smoothness: Smoothness | None = None,
    tail: TailDecay | None = None,
) -> FunctionKernel:
    """A profile from any Python callable; nothing is computed until it is asked for.

    Args:
        f: Takes a lag in seconds, numbers alone or arrays too; or ``"module:name"`` of one.
        period: Of the profile; ``None`` for one that dies away.
        smoothness: A bound on a derivative, for an error that is sure and not only measured.
        tail: A bound on how it dies away, for the same; not with a period.

    Raises:
        InputError: They do not fit together.
    """
    return FunctionKernel(f, period, smoothness, tail)
