"""Jobs: the trainings of a comparison, one for each arm and seed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rota.models.blueprint import Blueprint
from rota.recipes.addresses import Address, address_of
from rota.recipes.output import MODELS, model_name
from rota.recipes.plan import Plan
from rota.recipes.question import Question
from rota.tables import from_table, to_table

__all__: list[str] = []


@dataclass(frozen=True)
class Job:
    """One training.

    Attributes:
        arm: Its name.
        blueprint: Of its network, with the seed.
        folder: Where its model and all else that is left of it are kept; ``None``: nowhere.
        address: What decides its result; empty where nothing is kept.
    """

    arm: str
    blueprint: Blueprint
    folder: Path | None = None
    address: Address = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"arm {self.arm}, seed {self.blueprint.seed}"

    def to_line(self) -> str:
        """The job as one line of text, for another process.

        Raises:
            InputError: The network's recipe cannot be kept in a table.
        """
        told = {"arm": self.arm, "blueprint": to_table(self.blueprint), "address": dict(self.address)}
        return json.dumps(told | {"folder": str(self.folder)}) + "\n"

    @classmethod
    def from_line(cls, line: str) -> "Job":
        """The job that `to_line` told."""
        told = json.loads(line)
        blueprint = from_table(told["blueprint"], Blueprint)
        return cls(told["arm"], blueprint, Path(told["folder"]), told["address"])


def jobs_of(question: Question, plan: Plan, folder: Path | None, threads: int) -> Mapping[str, list[Job]]:
    """Jobs of each arm, by seed.

    Args:
        question: What they learn from.
        plan: With the law measured, where an arm asks for it.
        folder: Of the comparison; each gets one of its own below it. ``None``: nothing is kept.
        threads: Of each training.

    Raises:
        InputError: A recipe is to be kept and cannot be.
    """
    found: dict[str, list[Job]] = {}
    for arm, recipe in plan.recipes().items():
        for seed in range(plan.seeds):
            blueprint = Blueprint(
                recipe, question.histories.num_items, question.log.unit, plan.protocol.time_access, seed
            )
            job = Job(arm, blueprint)
            if folder is not None:
                kept = folder / MODELS / model_name(arm, seed)
                job = Job(arm, blueprint, kept, address_of(blueprint, plan.protocol, question, threads))
            found.setdefault(arm, []).append(job)
    return found
