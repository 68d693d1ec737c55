"""Lines of the table: an arm, and what each metric says of it."""

from dataclasses import dataclass

from rota.evaluation.significance import PairedDifference


@dataclass(frozen=True)
class MetricSummary:
    """One metric of one arm.

    Attributes:
        mean: Mean over seeds and users.
        spread: Standard deviation, between seeds, of the mean over users; ``None`` for a single seed.
        paired: Difference from the control arm; ``None`` for the control itself.
    """

    mean: float
    spread: float | None
    paired: PairedDifference | None


@dataclass(frozen=True)
class ArmSummary:
    """One arm.

    Attributes:
        arm: Its name.
        seeds: Number of trained seeds; 0 for an untrained model.
        metrics: A summary by the metric's name.
    """

    arm: str
    seeds: int
    metrics: dict[str, MetricSummary]
