"""Train config: one training, from the log to the seed, as one table."""

from dataclasses import dataclass, field, replace

from rota.batch import TimeAccess
from rota.data.options import Reading
from rota.data.splits.base import Splitter
from rota.data.splits.leave_last import LeaveLast
from rota.errors import InputError
from rota.evaluation.seen import SeenItems
from rota.kernels.base import Kernel
from rota.models.base import Model
from rota.models.transformer import Transformer
from rota.recipes.arm_models import arm_model
from rota.recipes.protocol import Protocol
from rota.tables import Recipe
from rota.training.recipe import Training


@dataclass(frozen=True)
class TrainConfig(Recipe):
    """All that decides what a training comes to, and how often it is kept.

    Attributes:
        log: Prepared dataset, files, a table of a database by URL, or a source known by name; a path is seen
            from where the command is run.
        arm: What is trained, as a comparison names it (see `arm_model`); empty: the model as it is.
        prior: Kernels of a ClockRoPE in the arm, instead of that recipe's own.
        seed: Of weights, frequencies, orders, negatives and dropout.
        time_access: What it may know of the clock: none, history or request.
        seen: Whether items of a user's own history are candidates: keep or drop.
        split: Who is asked what.
        device: ``"cpu"`` or ``"cuda"``.
        precision: 32-true, bf16-mixed, or on cuda 16-mixed.
        sample_users: Train on a random sample of so many users.
        checkpoint_every: Steps after which it is kept, beside each epoch; 0: at epochs alone. It may change
            while a training goes on, as the workers of a training may.
        sharded: Under torchrun, each process holds a share of the weights, of their gradients and of the
            optimizer's state only. Like the number of processes it may change while a training goes on.
        reading: How the log is to be understood.
        model: Network; one that the arm names has its sizes.
        training: How it is trained.

    Raises:
        InputError: One of them is not to be had, or they do not fit each other.
    """

    log: str
    arm: str = ""
    prior: tuple[Kernel, ...] = ()
    seed: int = 0
    time_access: TimeAccess | str = TimeAccess.REQUEST
    seen: SeenItems | str = SeenItems.KEEP
    split: Splitter = field(default_factory=LeaveLast)
    device: str = "cpu"
    precision: str = "32-true"
    sample_users: int | None = None
    checkpoint_every: int = 0
    sharded: bool = False
    reading: Reading = field(default_factory=Reading)
    model: Model = field(default_factory=Transformer)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", tuple(self.prior))
        object.__setattr__(self, "time_access", TimeAccess.parse(self.time_access))
        object.__setattr__(self, "seen", SeenItems.parse(self.seen))
        for name in ("seed", "checkpoint_every"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} {getattr(self, name)}: expected 0 or above")
        if not self.log:
            raise InputError("log '': expected a file, a prepared dataset, or a source known by name")
        if self.sample_users is not None and self.sample_users < 1:
            raise InputError(f"sample_users {self.sample_users}: expected at least 1; leave it out for all")
        if self.prior and not self.arm:
            raise InputError(
                f"prior {self.prior[0]}: without an arm the model's own encoding has its own; name an "
                "arm, such as clockrope"
            )
        _ = self.protocol  # what it refuses is refused now
        if self.recipe.encoding != self.model.encoding != type(self.model)().encoding:
            raise InputError(
                f"arm {self.arm!r} and an encoding of the model: expected one of them; leave the arm out, or "
                "the table of the encoding"
            )

    @property
    def undivided(self) -> "TrainConfig":
        """The same training, however it is spread and how often it is kept: none of that changes a number."""
        return replace(
            self, sharded=False, checkpoint_every=0, training=replace(self.training, num_workers=0)
        )

    @property
    def protocol(self) -> Protocol:
        """How it is trained and asked."""
        return Protocol(self.time_access, self.seen, self.training, self.device, self.precision, self.split)

    @property
    def recipe(self) -> Model:
        """Recipe of the network."""
        return arm_model(self.arm, self.model, self.prior) if self.arm else self.model

    @property
    def name(self) -> str:
        """Under which it is trained: the arm, or the file of its model."""
        return self.arm or type(self.model).__module__.rpartition(".")[2]
