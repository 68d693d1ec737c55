"""compare: arms and seeds on one log under one protocol."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from rota.analysis.profiles import ProfileFit
from rota.data.log import Log
from rota.errors import InputError
from rota.models.blueprint import Blueprint
from rota.recipes.baselines import baseline_runs
from rota.recipes.output import MODELS, PLAN, claim
from rota.recipes.plan import Plan
from rota.recipes.priors import realised_priors
from rota.recipes.question import Question, ask_of
from rota.recipes.reporting import comparison_of
from rota.recipes.study import Study
from rota.recipes.trial import Trial, run_trial
from rota.recipes.watching import Unwatched, Watcher
from rota.toml import write_recipe

__all__ = ["compare"]


def compare(
    log: Log, plan: Plan | None = None, *, out: str | Path | None = None, watcher: Watcher | None = None
) -> Study:
    """Train every arm with every seed on one split, and rank the untrained baselines beside them.

    Users with five events or more are asked, by default leave-one-out: validation selects the epoch, and the
    test is asked once.

    Args:
        log: Events; see `read_log`.
        plan: Which arms, how often, under which protocol.
        out: New or empty folder for models, results and pictures; nothing is written without. A run that
            fails leaves its finished models there, or nothing.
        watcher: Told of progress.

    Returns:
        The study: its table, its figures, and the comparison with every rank.

    Raises:
        InputError: Fewer than two users have enough events, a training fails or does not fit the log, or the
            folder already holds something.
    """
    plan, watcher = plan or Plan(), watcher or Unwatched()
    plan.require_fit(log.unit)
    with nullcontext() if out is None else claim(Path(out)) as folder:
        if folder is not None:
            write_recipe(folder / PLAN, plan)  # first: what breaks off can be run again
        study = _study(ask_of(log, plan.protocol.split), plan, folder, watcher)
        if folder is not None:
            study.save(folder)
    return study


def _study(question: Question, plan: Plan, folder: Path | None, watcher: Watcher) -> Study:
    watcher.begin(question, plan)
    baselines = baseline_runs(question, plan.protocol)
    trials = _trials(question, plan, folder, watcher)
    runs = [trial.run for tried in trials.values() for trial in tried]
    return Study(
        comparison_of(question, plan.protocol, plan.control, [*runs, *baselines]),
        {arm: [trial.attention for trial in tried] for arm, tried in trials.items()},
        _priors(plan, trials),
    )


def _trials(
    question: Question, plan: Plan, folder: Path | None, watcher: Watcher
) -> Mapping[str, Sequence[Trial]]:
    trials: dict[str, list[Trial]] = {}
    for arm, recipe in plan.recipes().items():
        for seed in range(plan.seeds):
            blueprint = Blueprint(
                recipe, question.histories.num_items, question.log.unit, plan.protocol.time_access, seed
            )
            kept = None if folder is None else folder / MODELS / f"{arm.replace(':', '-')}-seed{seed}"
            try:
                trial = run_trial(arm, blueprint, question, plan.protocol, kept, watcher)
            except InputError as error:
                raise InputError(f"arm {arm}, seed {seed}: {error}") from error
            trials.setdefault(arm, []).append(trial)
    return trials


def _priors(plan: Plan, trials: Mapping[str, Sequence[Trial]]) -> Sequence[ProfileFit]:
    """Fits of the first arm that has a ClockRoPE, as its first seed drew it; others ask for the same."""
    for arm, recipe in plan.recipes().items():
        fits = realised_priors(recipe.encoding, trials[arm][0].network)
        if fits:
            return [replace(fit, label=f"{fit.label} in {arm}") for fit in fits]
    return []
