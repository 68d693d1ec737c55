"""compare: arms and seeds on one log under one protocol."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rota.analysis.profiles import ProfileFit
from rota.data.log import Log
from rota.errors import InputError
from rota.recipes.addresses import data_of
from rota.recipes.baselines import baseline_runs
from rota.recipes.capacity import processes_for, require_processes
from rota.recipes.comparison_folder import held, workspace, write_plan
from rota.recipes.handing import hand_over
from rota.recipes.jobs import Job, jobs_of
from rota.recipes.measuring import measured
from rota.recipes.outcomes import Outcome, all_of, finished, require_same_data, tried, work_off
from rota.recipes.output import MODELS, sweep
from rota.recipes.plan import Plan
from rota.recipes.pool import worked_off
from rota.recipes.priors import clocks_of, realised_priors
from rota.recipes.question import Question, ask_of
from rota.recipes.reporting import comparison_of
from rota.recipes.study import Study
from rota.recipes.training_folder import save_study
from rota.recipes.watching import Unwatched, Watcher

__all__ = ["compare"]


def compare(
    log: Log,
    plan: Plan | None = None,
    *,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
    processes: int | None = 1,
    threads: int = 1,
) -> Study:
    """Train every arm with every seed on one split, and rank the untrained baselines beside them.

    Users with five events or more are asked, by default leave-one-out: validation selects the epoch, and the
    test is asked once. What comes out is the same, bit for bit on a CPU, in however many processes and with
    however many interruptions.

    Args:
        log: Events; see `read_log`.
        plan: Which arms, how often, under which protocol.
        out: Folder for models, results and pictures: new, empty, or that of the same comparison which was
            interrupted, if with other arms or seeds. Trainings that are finished there are not done again, if
            recipe, data and code are the same; others are. Nothing is written without a folder. A run that
            fails leaves its finished models there, or nothing.
        watcher: Told of progress.
        processes: How many trainings at once; ``None``: as many as cores and memory allow. One is done in
            this process.
        threads: Of each training. With another number the last bits may be others.

    Returns:
        The study: its table, its figures, and the comparison with every rank.

    Raises:
        InputError: Fewer than two users have enough events, a training does not fit the log, one fails (where
            there is a folder the others are done first), its process dies, or the folder is in use or
            already holds something else.
    """
    plan, watcher = plan or Plan(), watcher or Unwatched()
    require_processes(processes, threads)
    plan.require_fit(log.unit)
    with nullcontext() if out is None else held(Path(out), plan) as folder:
        question = ask_of(log, plan.protocol.split)
        if folder is not None:
            require_same_data(folder / MODELS, data_of(question))
            write_plan(folder, plan)
        told, question = measured(plan, question)
        study = _study(_Work(question, told, folder, processes, threads, watcher))
        if folder is not None:
            save_study(folder, study)
    return study


@dataclass(frozen=True)
class _Work:
    """A comparison under way; see `compare`."""

    question: Question
    plan: Plan
    folder: Path | None
    processes: int | None
    threads: int
    watcher: Watcher


def _study(work: _Work) -> Study:
    question, plan = work.question, work.plan
    arms = jobs_of(question, plan, work.folder, work.threads)
    jobs = [job for own in arms.values() for job in own]
    before = {job.name: outcome for job in jobs if (outcome := finished(job)) is not None}
    ahead = [job for job in jobs if job.name not in before]
    count = _count(work, len(ahead))
    work.watcher.begin(question, plan, count)
    for outcome in before.values():
        work.watcher.found(outcome.run, outcome.fitted)
    baselines = baseline_runs(question, plan.protocol)
    with _here(work, ahead) if count == 1 else _apart(work, ahead, count) as after:
        done = all_of({job.name: {**before, **after}[job.name] for job in jobs})
        outcomes = {arm: [done[job.name] for job in own] for arm, own in arms.items()}
        runs = [outcome.run for own in outcomes.values() for outcome in own]
        return Study(
            comparison_of(question, plan.protocol, plan.control, [*runs, *baselines]),
            {arm: [outcome.attention for outcome in own] for arm, own in outcomes.items()},
            _priors(question, plan, outcomes),
        )


def _count(work: _Work, trainings: int) -> int:
    """Of processes."""
    if work.processes is None:
        return processes_for(work.question, work.plan, trainings=trainings, threads=work.threads)
    return max(1, min(work.processes, trainings))


@contextmanager
def _here(work: _Work, jobs: Sequence[Job]) -> Iterator[Mapping[str, Outcome | InputError]]:
    """Outcomes of trainings in this process, one after another, or why they failed."""
    before = torch.get_num_threads()
    torch.set_num_threads(work.threads)
    try:
        train = work_off if work.folder is None else tried  # nothing is kept: nothing to go on for
        yield {job.name: train(job, work.question, work.plan.protocol, work.watcher) for job in jobs}
    finally:
        torch.set_num_threads(before)


@contextmanager
def _apart(work: _Work, jobs: Sequence[Job], count: int) -> Iterator[Mapping[str, Outcome | InputError]]:
    """Outcomes of trainings in processes of their own, or why they failed."""
    with workspace(work.folder) as place:
        folder = work.folder or place
        (folder / MODELS).mkdir(exist_ok=True)
        hand_over(work.question, work.plan.protocol, place)
        names = {job.name for job in jobs}
        placed = jobs_of(work.question, work.plan, folder, work.threads).values()
        ahead = [job for own in placed for job in own if job.name in names]
        try:
            outcomes = worked_off(
                ahead, place, processes=count, threads=work.threads, watcher=work.watcher,
                patient=work.folder is not None,
            )  # fmt: skip
        finally:
            sweep(folder / MODELS)  # a process that was killed could not
        yield {job.name: outcome for job, outcome in zip(ahead, outcomes, strict=True)}


def _priors(
    question: Question, plan: Plan, outcomes: Mapping[str, Sequence[Outcome]]
) -> Sequence[ProfileFit]:
    """Each profile that is asked for, as the first seed of the first arm that does drew it."""
    found: dict[str, ProfileFit] = {}
    for arm, recipe in plan.recipes().items():
        if not any(True for _ in clocks_of(recipe.encoding)):
            continue
        for fit in realised_priors(recipe.encoding, outcomes[arm][0].network(), question.law):
            found.setdefault(fit.label, replace(fit, label=f"{fit.label} in {arm}"))
    return list(found.values())
