"""evaluate: a trained model asked what it was trained to be asked, beside the untrained baselines."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxtyping import Float
from rich.table import Table
from torch import Tensor

from rota.batch import Batch, TimeAccess
from rota.data.log import Log
from rota.data.splits.base import Splitter
from rota.errors import InputError
from rota.evaluation.protocol import ask
from rota.evaluation.results import Comparison
from rota.evaluation.run import Run
from rota.evaluation.seen import SeenItems
from rota.evaluation.sliced_figures import Sliced
from rota.evaluation.slices.base import Slice
from rota.evaluation.slices.parsing import parse_slice
from rota.evaluation.slicing import sliced
from rota.files import written_whole
from rota.models.base import Network, Scorer
from rota.plots.slices import slices_table
from rota.recipes.baselines import baseline_runs
from rota.recipes.finding import open_model
from rota.recipes.fitting_question import departures, fit_catalogue
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question, ask_of
from rota.recipes.reporting import comparison_of
from rota.recipes.splitting import parse_split
from rota.recipes.study import Study
from rota.serving.artefact import Artefact
from rota.serving.provenance import Provenance
from rota.tables import to_table

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True)
class Evaluation:
    """What a model's answers are worth.

    Attributes:
        provenance: Where the model comes from.
        comparison: Its ranks and those of the untrained baselines; it is the control.
        slices: Its figures by slice.
        departures: What it was asked otherwise than it was trained, a phrase each; empty where nothing.
    """

    provenance: Provenance
    comparison: Comparison
    slices: tuple[Sliced, ...]
    departures: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Means with paired differences, then a table for each slice; for a terminal."""
        found = self.comparison
        title = f"{found.control} on {found.data['name']}, {found.split_name}"
        return [
            Study(found, {}, []).table(),
            *(slices_table(one, title=f"{title}, by {one.name}") for one in self.slices),
        ]

    def to_json(self) -> dict[str, object]:
        """As it is written to a file: what ``results.json`` of a comparison has, and more."""
        return {
            **self.comparison.to_json(),
            "model": to_table(self.provenance),
            "departures": list(self.departures),
            "slices": [one.to_json() for one in self.slices],
        }

    def save(self, path: str | Path) -> None:
        """Write `to_json`; the file appears only when complete.

        Raises:
            InputError: Its folder does not exist.
        """
        with written_whole(path) as part:
            text = json.dumps(self.to_json(), indent=2, allow_nan=False, ensure_ascii=False)
            part.write_text(text + "\n", encoding="utf-8")


def evaluate(
    model: Artefact | str | Path,
    log: Log,
    *,
    split: Splitter | None = None,
    time_access: TimeAccess | str | None = None,
    seen: SeenItems | str | None = None,
    slices: Sequence[Slice | str] = (),
    anyway: bool = False,
    device: str = "cpu",
    tell: Callable[[str, int, int], None] = lambda label, done, total: None,
) -> Evaluation:
    """Ask a trained model the test of its split, beside the untrained baselines.

    Args:
        model: The model, or its folder, or that of a run with one model.
        log: Events; see `read_log` and `load_dataset`.
        split: Who is asked what; by default as the model was trained.
        time_access: What all may know of the clock; likewise. A model of one access can be asked at another,
            though it learnt nothing of it, but not at none.
        seen: Whether items of a user's history are candidates; likewise.
        slices: Kinds of questions to look at apart, by name or as `Slice`, each once.
        anyway: Ask although the time access, the treatment of seen items, the zone, the data or the split is
            not that of the training; what differs is told in the result.
        device: ``"cpu"`` or ``"cuda"``.
        tell: Told of what is done, questions answered, and questions in all (0 where that is not known).

    Raises:
        InputError: A slice is unknown or given twice, the model cannot be loaded, something is asked
            otherwise than it was trained and that is not wanted, the log has items that its catalogue does
            not have, or the split does not fit the log.
    """
    by = chosen_slices(slices)
    artefact = open_model(model)
    facts = artefact.provenance
    protocol = Protocol(
        artefact.time_access if time_access is None else time_access,
        facts.seen if seen is None else seen,
        device=device,
        split=split or parse_split(facts.split),
    )
    question = fit_catalogue(ask_of(log, protocol.split), artefact)
    differing = departures(question, artefact, protocol)
    if differing and not anyway:
        raise InputError(
            f"{log.name} is not asked as the model was trained: {'; '.join(differing)}: ask as it was "
            "trained, or say that you want it all the same (anyway=, --anyway)"
        )
    ranks = _model_run(artefact, question, protocol, tell)
    tell("asking the untrained baselines", 0, 0)
    runs = [ranks, *baseline_runs(question, protocol)]
    comparison = comparison_of(question, protocol, facts.arm, runs)
    found = [
        sliced(comparison.metrics, ranks.ranks, question.histories, question.stages.test, one) for one in by
    ]
    return Evaluation(facts, comparison, tuple(found), differing)


def chosen_slices(slices: Sequence[Slice | str]) -> list[Slice]:
    """Slices by name or as they are.

    Raises:
        InputError: One is unknown, or the same as another.
    """
    chosen: list[Slice] = []
    for one in slices:
        kind = one if isinstance(one, Slice) else parse_slice(one)
        if kind in chosen:
            raise InputError(f"slice {kind.name} twice: expected each once; leave one out")
        chosen.append(kind)
    return chosen


class AskedOtherwise(Scorer):
    """A network asked at a time access for which it was not built."""

    def __init__(self, network: Network) -> None:
        self.network, self.max_len, self.needs_clock = network, network.max_len, network.needs_clock

    def scores(self, batch: Batch) -> Float[Tensor, "batch items"]:
        """Score of every item: those of the network."""
        return self.network.scores(batch)


def _model_run(
    artefact: Artefact, question: Question, protocol: Protocol, tell: Callable[[str, int, int], None]
) -> Run:
    network = artefact.network.to(protocol.device).eval()
    own = protocol.time_access == artefact.time_access
    total, done, label = len(question.stages.test.users), 0, f"asking {artefact.provenance.arm}"

    def advance(answered: int) -> None:
        nonlocal done
        done += answered
        tell(label, done, total)

    tell(label, 0, total)
    ranks = ask(
        network if own else AskedOtherwise(network),
        question.histories,
        question.stages.test,
        access=protocol.time_access,
        seen=protocol.seen,
        device=protocol.device,
        advance=advance,
    )
    return Run(artefact.provenance.arm, artefact.blueprint.seed, ranks)
