"""compare: arms and seeds on one log under one protocol."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from rota.data.log import Log
from rota.errors import InputError
from rota.evaluation.results import Comparison
from rota.evaluation.run import Run
from rota.kernels.base import Kernel
from rota.models.blueprint import Blueprint
from rota.models.transformer import Transformer
from rota.recipes.arms import arm_encoding
from rota.recipes.baselines import baseline_runs
from rota.recipes.priors import realised_priors
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question, ask_of
from rota.recipes.study import Study
from rota.recipes.trial import Trial, run_trial
from rota.recipes.watching import Unwatched, Watcher

__all__ = ["DEFAULT_ARMS", "compare"]

DEFAULT_ARMS = ("none", "rope", "clockrope", "rope+clockrope", "trope")
_LIBRARIES = ("rota", "torch", "numpy", "lightning", "pyarrow")


def compare(
    log: Log,
    *,
    arms: Sequence[str] = DEFAULT_ARMS,
    control: str | None = None,
    seeds: int | Sequence[int] = 2,
    prior: Sequence[Kernel] = (),
    model: Transformer | None = None,
    protocol: Protocol | None = None,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Study:
    """Train every arm with every seed on one split, and rank the untrained baselines beside them.

    Users with five events or more are asked, leave-one-out: validation selects the epoch, and the test is
    asked once.

    Args:
        log: Events; see `read_log`.
        arms: Names of encodings, joined by ``+`` where they share a head's features; see `arm_encoding`.
        control: Arm that the others are compared with; by default the first.
        seeds: How many, or which.
        prior: Kernels of the ClockRoPE arms, instead of that recipe's own.
        model: Network, which takes each arm's encoding in turn.
        protocol: What is the same for every arm.
        out: New or empty folder for models, results and pictures; nothing is written without.
        watcher: Told of progress.

    Returns:
        The study: its table, its figures, and the comparison with every rank.

    Raises:
        InputError: An arm is unknown or needs a clock that it does not get, no user has enough events, or the
            folder already holds something.
    """
    protocol, watcher = protocol or Protocol(), watcher or Unwatched()
    chosen = _seeds(seeds)
    blueprints = _recipes(arms, control or arms[0], prior, model or Transformer(), protocol)
    folder = None if out is None else _claim(Path(out))
    question = ask_of(log, None if folder is None else folder / "sequences")
    baselines = baseline_runs(question, protocol)
    watcher.begin(len(arms) * len(chosen), protocol.training.epochs)
    trials: dict[str, list[Trial]] = {arm: [] for arm in arms}
    for arm, recipe in blueprints.items():
        for seed in chosen:
            blueprint = Blueprint(
                recipe, question.histories.num_items, question.log.unit, protocol.time_access, seed
            )
            kept = None if folder is None else folder / "models" / f"{arm}-seed{seed}"
            trials[arm].append(run_trial(arm, blueprint, question, protocol, kept, watcher))
    runs = [trial.run for arm in arms for trial in trials[arm]]
    study = Study(
        _comparison(question, protocol, control or arms[0], [*runs, *baselines]),
        {arm: [trial.attention for trial in tried] for arm, tried in trials.items()},
        next(
            filter(None, (realised_priors(blueprints[arm].encoding, trials[arm][0].network) for arm in arms)),
            [],
        ),
    )
    if folder is not None:
        study.save(folder)
    return study


def _seeds(seeds: int | Sequence[int]) -> list[int]:
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"seeds {seeds}: expected at least one, each once")
    return chosen


def _recipes(
    arms: Sequence[str], control: str, prior: Sequence[Kernel], model: Transformer, protocol: Protocol
) -> Mapping[str, Transformer]:
    """Network of each arm, after a look at whether they can all be built: refuse before the work, not amid it."""
    if not arms or len(set(arms)) < len(arms):
        raise InputError(f"arms {', '.join(arms)}: expected at least one, each once")
    if control not in arms:
        raise InputError(f"control {control!r}: expected one of the arms {', '.join(arms)}")
    recipes = {arm: model.with_encoding(arm_encoding(arm, prior)) for arm in arms}
    for arm, recipe in recipes.items():
        try:
            Blueprint(recipe, 1, "s", protocol.time_access, 0).build()
        except InputError as error:
            raise InputError(f"arm {arm}: {error}") from error
    return recipes


def _claim(folder: Path) -> Path:
    """Make the folder of a run; what is there is never written over."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists and is not empty: an earlier result is never overwritten; choose another"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}): choose another folder") from error
    return folder


def _comparison(question: Question, protocol: Protocol, control: str, runs: Sequence[Run]) -> Comparison:
    return Comparison(
        time_access=protocol.time_access,
        seen=protocol.seen,
        control=control,
        split_name=question.stages.name,
        split_hash=question.stages.hash,
        data=question.facts(),
        versions={"python": platform.python_version()}
        | {library: version(library) for library in _LIBRARIES},
        users=question.users,
        targets=question.targets,
        runs=runs,
    )
