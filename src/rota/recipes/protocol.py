"""Protocol: what is the same for every arm of a comparison."""

from dataclasses import dataclass, field

from rota.batch import TimeAccess
from rota.data.splits.base import Splitter
from rota.data.splits.leave_last import LeaveLast
from rota.evaluation.seen import SeenItems
from rota.tables import Recipe
from rota.training.hardware import check_hardware
from rota.training.recipe import Training


@dataclass(frozen=True)
class Protocol(Recipe):
    """What is the same for every arm.

    Attributes:
        time_access: What each may know of the clock: none, history or request.
        seen: Whether items of a user's own history are candidates: keep or drop.
        training: How each is trained.
        device: ``"cpu"`` or ``"cuda"``.
        precision: Of training: 32-true, bf16-mixed, or on cuda 16-mixed.
        split: Who is asked what.

    Raises:
        InputError: One of them is not to be had.
    """

    time_access: TimeAccess | str = TimeAccess.REQUEST
    seen: SeenItems | str = SeenItems.KEEP
    training: Training = field(default_factory=Training)
    device: str = "cpu"
    precision: str = "32-true"
    split: Splitter = field(default_factory=LeaveLast)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time_access", TimeAccess.parse(self.time_access))
        object.__setattr__(self, "seen", SeenItems.parse(self.seen))
        check_hardware(self.device, self.precision)
