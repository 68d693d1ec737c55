"""What a comparison found: the ranks of every arm, seed and target, and the figures that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rota.errors import InputError
from rota.evaluation.averaging import by_user
from rota.evaluation.folder import Ids, as_ids, ranks_table, write_run
from rota.evaluation.metrics.parsing import DEFAULT_METRICS, SET_METRICS, metric
from rota.evaluation.questions import check_sizes, users_asked
from rota.evaluation.run import Run
from rota.evaluation.significance import PairedDifference, paired_differences
from rota.evaluation.summary import ArmSummary, MetricSummary
from rota.types import Float64Array, Int64Array

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Comparison:
    """Arms compared on the same users at the same time access.

    Attributes:
        time_access: What the arms knew of the clock; figures at another access are not comparable.
        seen: Whether items of the user's own history were candidates: keep or drop.
        control: Arm that the others are compared with.
        split_name: Name of the split.
        split_hash: Digest of who was asked what.
        data: Facts of the log: rows, users, items, ties, unit, fingerprint.
        versions: Version by library.
        users: Id, as the log has it, of who is asked each question, shape ``(questions,)``; kept as a
            ``pyarrow.Array``. A user who is asked more than once is averaged over first.
        targets: Ids of the items that did come, as the log has them, shape ``(targets,)``; likewise.
        runs: Every arm and seed, with a rank for each target.
        metrics: Names of the metrics to report; where none is named, the usual ones, and those of sets where
            a question has several targets.
        offsets: Question ``s`` has targets ``offsets[s]`` up to ``offsets[s + 1]``, as `Positives` says;
            shape ``(questions + 1,)``. Kept as ``None`` where each has one.

    Raises:
        InputError: The control has no run, a run occurs twice or does not fit the users, or there is no such
            metric.
    """

    time_access: str
    seen: str
    control: str
    split_name: str
    split_hash: str
    data: Mapping[str, object]
    versions: Mapping[str, str]
    users: Ids
    targets: Ids
    runs: Sequence[Run]
    metrics: tuple[str, ...] = ()
    offsets: Int64Array | None = None

    def __post_init__(self) -> None:
        for field in ("users", "targets"):
            object.__setattr__(self, field, as_ids(getattr(self, field)))
        check_sizes(as_ids(self.users), as_ids(self.targets), self.offsets, self.runs)
        if self.offsets is not None and (np.diff(self.offsets) == 1).all():
            object.__setattr__(self, "offsets", None)
        names = self.metrics or (DEFAULT_METRICS if self.offsets is None else DEFAULT_METRICS + SET_METRICS)
        object.__setattr__(self, "metrics", tuple(metric(name).name for name in names))
        if len({(run.arm, run.seed) for run in self.runs}) < len(self.runs):
            raise InputError("two runs of one arm and seed: expected each once")
        self._runs(self.control)

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms in the order of their first run."""
        return tuple(dict.fromkeys(run.arm for run in self.runs))

    def metric(self, arm: str, name: str) -> Float64Array:
        """Value of a metric for each seed and user, shape ``(seeds, users)``; users as they are first asked.

        Raises:
            InputError: There is no such arm or metric.
        """
        return np.stack([self._values(run, name) for run in self._runs(arm)])

    @cached_property
    def paired(self) -> dict[tuple[str, str], PairedDifference]:
        """Difference from the control, by arm and metric; every arm but the control, the untrained too."""
        pairs = [(arm, name) for arm in self.arms if arm != self.control for name in self.metrics]
        if not pairs:
            return {}
        mean = {
            (arm, name): self.metric(arm, name).mean(axis=0) for arm in self.arms for name in self.metrics
        }
        differences = np.stack([mean[arm, name] - mean[self.control, name] for arm, name in pairs])
        return dict(zip(pairs, paired_differences(differences), strict=True))

    def rows(self) -> list[ArmSummary]:
        """Lines of the table, an arm each."""
        return [
            ArmSummary(
                arm,
                sum(run.seed is not None for run in self._runs(arm)),
                {name: self._summary(arm, name) for name in self.metrics},
            )
            for arm in self.arms
        ]

    def to_json(self) -> dict[str, object]:
        """Results as they are written to ``results.json``."""
        return {
            "schema": SCHEMA,
            "time_access": str(self.time_access),
            "seen": str(self.seen),
            "control": self.control,
            "split": {"name": self.split_name, "hash": self.split_hash},
            "data": dict(self.data),
            "versions": dict(self.versions),
            "arms": [self._arm(run) for run in self.runs],
            "paired": [
                {"arm": arm, "control": self.control, "metric": name, **difference._asdict()}
                for (arm, name), difference in self.paired.items()
            ],
        }

    def save(self, folder: Path | str) -> None:
        """Write ``ranks.parquet``, then ``results.json``: where that exists, the run is complete.

        Raises:
            InputError: The folder already holds either; nothing is overwritten.
        """
        write_run(
            Path(folder), self.to_json(), ranks_table(self.users, self.targets, self.offsets, self.runs)
        )

    def _runs(self, arm: str) -> list[Run]:
        found = [run for run in self.runs if run.arm == arm]
        if not found:
            raise InputError(f"arm {arm!r}: expected one of {', '.join(self.arms) or '(there are no runs)'}")
        return found

    @cached_property
    def _asked(self) -> Int64Array:
        return users_asked(as_ids(self.users))

    def _values(self, run: Run, name: str) -> Float64Array:
        return by_user(metric(name)(run.ranks, self.offsets), self._asked)

    def _arm(self, run: Run) -> dict[str, object]:
        told: dict[str, object] = {"arm": run.arm, "seed": run.seed, "metrics": self._means(run)}
        return told | {"validation": list(run.validation)} if run.validation else told

    def _means(self, run: Run) -> dict[str, float]:
        return {name: float(self._values(run, name).mean()) for name in self.metrics}

    def _summary(self, arm: str, name: str) -> MetricSummary:
        by_seed = self.metric(arm, name).mean(axis=1)
        spread = float(by_seed.std(ddof=1)) if len(by_seed) > 1 else None
        return MetricSummary(float(by_seed.mean()), spread, self.paired.get((arm, name)))
