"""What T-RoPE costs: its paper's table of operations (App. B.2), as numbers of one layer and step."""

from dataclasses import dataclass

from rota.errors import InputError


@dataclass(frozen=True)
class TRoPECost:
    """Arithmetic operations (multiply, add, subtract, divide: one each) of Algorithms 1 to 3.

    They count the algorithms as the paper writes them. `rota.rotary.rotate` has the gradient of the phases
    from its output instead of its input, in 6 operations a pair instead of 18 for queries and keys together.

    Attributes:
        tokens: ``N``, batch times length.
        heads: ``H``.
        pairs: ``P``, planes of a head.
    """

    tokens: int
    heads: int
    pairs: int

    def __post_init__(self) -> None:
        if min(self.tokens, self.heads, self.pairs) < 1:
            raise InputError(
                f"cost of {self.tokens} tokens, {self.heads} heads, {self.pairs} pairs: expected at least "
                "one of each"
            )

    @property
    def build_phases(self) -> int:
        """Phases of queries and keys, ``4NP``: a product and a quotient each."""
        return 4 * self.tokens * self.pairs

    @property
    def rotate(self) -> int:
        """Queries and keys turned, ``12NHP``."""
        return 12 * self.tokens * self.heads * self.pairs

    @property
    def fixed_backward(self) -> int:
        """Their gradients turned back, as for any rotation, ``12NHP``."""
        return self.rotate

    @property
    def phase_gradient(self) -> int:
        """Gradients of learned phases, summed over heads, ``18NHP + 2NP(H-1)``."""
        planes = self.tokens * self.pairs
        return 18 * planes * self.heads + 2 * planes * (self.heads - 1)

    @property
    def our_phase_gradient(self) -> int:
        """The same from the output of the rotation, ``6NHP + 2NP(H-1)``."""
        planes = self.tokens * self.pairs
        return 6 * planes * self.heads + 2 * planes * (self.heads - 1)

    @property
    def coefficient_gradients(self) -> int:
        """From phases to coefficients, ``4NP``; the sum over tokens is not counted, as in the paper."""
        return 4 * self.tokens * self.pairs

    @property
    def transcendentals(self) -> int:
        """Sines and cosines of one pass, ``4NP``: of both for queries and for keys."""
        return 4 * self.tokens * self.pairs

    @property
    def parameters(self) -> int:
        """Free coefficients of one layer, ``2P``."""
        return 2 * self.pairs
