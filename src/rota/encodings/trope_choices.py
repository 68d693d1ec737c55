"""The switches of T-RoPE's formula, which the ablations of its paper turn."""

from rota.choice import Choice


class Coefficients(Choice):
    """Whether queries and keys have coefficients of their own."""

    FREE = "free"
    TIED = "tied"


class KeyRotation(Choice):
    """Which way keys turn: against queries (Sec. 3.5) or with them."""

    NONSTATIONARY = "nonstationary"
    STATIONARY = "stationary"


class RotatedSides(Choice):
    """What is turned at all: the paper's ablations take away the one or the other (Table 3)."""

    BOTH = "both"
    QUERY = "query"
    KEY = "key"


class Parametrisation(Choice):
    """In what numbers the coefficients are learned."""

    PAPER = "paper"
    CONDITIONED = "conditioned"
