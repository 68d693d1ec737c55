"""Plan: which arms, how often, under which protocol; checked before any work."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from rota.encodings.clockrope import ClockRoPE
from rota.encodings.inputs import InputRecipe
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.measured import Measured
from rota.models.base import Model
from rota.models.blueprint import Blueprint
from rota.models.transformer import Transformer
from rota.recipes.arm_models import arm_model
from rota.recipes.arms import UNMEASURED
from rota.recipes.priors import Clock, clocks_of
from rota.recipes.protocol import Protocol
from rota.tables import Recipe
from rota.training.losses.mixing import require_likelihood
from rota.units import UNITS

DEFAULT_ARMS = ("none", "rope", "clockrope", "rope+clockrope", "trope")


@dataclass(frozen=True)
class Plan(Recipe):
    """What a comparison trains.

    Attributes:
        arms: Names of encodings, joined by ``+`` where they share a head's features, and of models, alone or
            before a colon: ``rope+clockrope``, ``hstu``, ``sasrec:calendar``; see `arm_model`.
        control: Arm that the others are compared with; by default the first.
        seeds: How many trainings of each arm, with seeds 0, 1, ...
        prior: Kernels of the ClockRoPE arms, instead of that recipe's own.
        model: Network of the arms that name none, which takes each one's encoding in turn; those that name
            another have its sizes and its repeat head.
        inputs: Features of time that every arm is told of each event, where it names none itself; ``None``:
            those that are its model's own.
        normalised: Whether every arm compares by cosine; ``None``: as each model does by itself.
        temperature: Of every arm's logits, likewise.
        law: Profile of the arms ``clockrope-measured``; ``None`` until it is measured on the training events.
        protocol: What is the same for every arm.

    Raises:
        InputError: An arm is unknown, occurs twice or needs a clock that it does not get; the control is no
            arm; there is no seed; no arm has a use for the prior.
    """

    arms: tuple[str, ...] = DEFAULT_ARMS
    control: str = ""
    seeds: int = 2
    prior: tuple[Kernel, ...] = ()
    model: Model = field(default_factory=Transformer)
    protocol: Protocol = field(default_factory=Protocol)
    inputs: tuple[InputRecipe, ...] | None = None
    normalised: bool | None = None
    temperature: float | int | None = None
    law: Measured | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", tuple(self.arms))
        object.__setattr__(self, "prior", tuple(self.prior))
        object.__setattr__(self, "inputs", None if self.inputs is None else tuple(self.inputs))
        if not self.arms or len(set(self.arms)) < len(self.arms):
            raise InputError(f"arms {', '.join(self.arms) or '(none)'}: expected at least one, each once")
        object.__setattr__(self, "control", self.control or self.arms[0])
        if self.control not in self.arms:
            raise InputError(f"control {self.control!r}: expected one of the arms {', '.join(self.arms)}")
        if self.seeds < 1:
            raise InputError(f"seeds {self.seeds}: expected at least one training of each arm")
        self._check_prior()
        self._require_fit_somewhere()

    def recipes(self) -> Mapping[str, Model]:
        """Network of each arm, in order."""
        law = self.law or UNMEASURED
        recipes = {arm: arm_model(arm, self.model, self.prior, self.inputs, law) for arm in self.arms}
        return {arm: self._compared(recipe) for arm, recipe in recipes.items()}

    def _compared(self, recipe: Model) -> Model:
        """The network with what is said of how features and items are compared."""
        stated = {"normalised": self.normalised, "temperature": self.temperature}
        changed = {name: value for name, value in stated.items() if value is not None}
        return replace(recipe, similarity=replace(recipe.similarity, **changed))  # type: ignore[type-var, arg-type]

    @property
    def asks_for_law(self) -> bool:
        """Whether an arm needs a law that is not measured yet."""
        return self.law is None and any(map(_by_law, self._clocks()))

    def _clocks(self) -> Iterator[Clock]:
        for recipe in self.recipes().values():
            yield from clocks_of(recipe.encoding)

    def require_fit(self, unit: str) -> None:
        """Build every arm for a catalogue of one item: what does not fit is refused before the work.

        Args:
            unit: Unit of the log's clock: the finer, the more ticks has a period, and there may be too many.

        Raises:
            InputError: An arm does not fit the clock, or its parts each other.
        """
        for arm, recipe in self.recipes().items():
            try:
                require_likelihood(self.protocol.training.loss, recipe.repeat_head is not None)
                Blueprint(recipe, 1, unit, self.protocol.time_access, 0).build()
            except InputError as error:
                raise InputError(f"arm {arm}: {error}") from error

    def _require_fit_somewhere(self) -> None:
        """The log's unit is not known yet: refuse what fits the clock of no unit."""
        refusals = []
        for unit in UNITS:
            try:
                self.require_fit(unit)
            except InputError as error:
                refusals.append(error)
            else:
                return
        raise refusals[0]

    def _check_prior(self) -> None:
        if self.prior and all(map(_by_law, self._clocks())):
            raise InputError(
                f"prior {self.prior[0]}: no arm of {', '.join(self.arms)} has a profile; add clockrope to "
                "the arms or leave the prior out"
            )


def _by_law(clock: Clock) -> bool:
    """Whether a clock's profile is still to be measured; one that was given a prior has it already."""
    return isinstance(clock, ClockRoPE) and clock.kernels == (UNMEASURED,)
