"""A comparison whose training diverges: it says where, and what was trained stays, and is named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from rota.data.log import Log
from rota.data.reading import read_log
from rota.errors import InputError, NotFiniteError
from rota.models.base import Network
from rota.models.transformer import Transformer
from rota.recipes import trial
from rota.recipes.comparison import compare
from rota.recipes.outcomes import RECORD
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.recommending import recommend
from rota.recipes.train_config import TrainConfig
from rota.recipes.training_run import train
from rota.recipes.watching import Unwatched
from rota.serving.artefact import load_artefact
from rota.toml import read_recipe
from rota.training.loop import fit
from rota.training.progress import Fitted, Progress
from rota.training.recipe import Training
from town import columns, town

PLAN = Plan(
    ("none", "rope"),
    seeds=1,
    model=Transformer(embedding_dim=16),
    protocol=Protocol(training=Training(epochs=3, batch_size=8, patience=3)),
)


@pytest.fixture(scope="module")
def log() -> Log:
    return read_log(pa.table(columns(town(20, 6))), user="user", item="item", time="when")


def spoil(monkeypatch: pytest.MonkeyPatch, arm: int, epoch: int, recipe: str = "trial") -> None:
    """Let the weights of an arm be no numbers from the first step of an epoch on."""
    trained: list[Network] = []

    def spoilt(network: Network, *given: Any, report: Any, **named: Any) -> Fitted:
        trained.append(network)

        def told(progress: Progress) -> None:
            if (len(trained) - 1, progress.epoch, progress.step) == (arm, epoch, 1):
                with torch.no_grad():
                    next(network.parameters()).fill_(float("nan"))
            report(progress)

        return fit(network, *given, report=told, **named)

    monkeypatch.setattr(f"rota.recipes.{recipe}.fit", spoilt)


def test_the_best_epoch_so_far_stays_and_is_named(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, arm=1, epoch=2)
    out = tmp_path / "out"
    with pytest.raises(InputError) as refused:
        compare(log, PLAN, out=out)
    message, kept = str(refused.value), out / "models" / "rope-seed0"
    assert message.startswith(
        "arm rope, seed 0: the training has diverged: the loss is nan in epoch 3, step 2: "
    )
    assert f"is in {kept}" in message
    assert "\n" not in message
    assert "1 of 2 trainings are finished and kept: the same command without an arm that failed" in message
    assert sorted(path.name for path in (out / "models").iterdir()) == ["none-seed0", "rope-seed0"]
    facts = load_artefact(kept).provenance
    assert facts.best_epoch in (0, 1)
    assert f"epoch {facts.best_epoch + 1} (validation {facts.validation_mrr:.3f})" in message
    assert facts.stopped.startswith("the training has diverged: the loss is nan in epoch 3, step 2")
    assert not load_artefact(out / "models" / "none-seed0").provenance.stopped
    assert len(recommend(kept, items=[101, 102], times=["2024-01-02", "2024-01-03"], now="2024-01-04")) == 10


def test_without_an_epoch_there_is_nothing_to_keep(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, arm=0, epoch=0)
    with pytest.raises(InputError, match=r"arm none, seed 0: .* epoch 1, step 2: .*no checkpoint"):
        compare(log, replace(PLAN, arms=("none",), control="none"), out=tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_the_other_arms_are_trained_all_the_same_and_kept_for_a_comparison_without_it(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, rest = tmp_path / "out", ("rope", "trope")
    with monkeypatch.context() as spoilt:
        spoil(spoilt, arm=0, epoch=0)
        with pytest.raises(InputError, match=r"^arm none, seed 0: .*; 2 of 3 trainings are finished"):
            compare(log, replace(PLAN, arms=("none", *rest)), out=out)
    trained = {name: (out / "models" / f"{name}-seed0" / RECORD).stat().st_mtime_ns for name in rest}
    found = compare(log, replace(PLAN, arms=rest, control="rope"), out=out)
    assert [run.arm for run in found.comparison.runs if run.seed is not None] == [*rest]
    for name, time in trained.items():
        assert (out / "models" / f"{name}-seed0" / RECORD).stat().st_mtime_ns == time
    assert read_recipe(out / "plan.toml", Plan).arms == rest


def refuse(*_: object) -> None:
    raise InputError("no")


def test_where_several_fail_the_first_is_told_whole(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rota.recipes.outcomes.run_trial", refuse)
    with pytest.raises(InputError) as refused:
        compare(log, PLAN, out=tmp_path / "out")
    assert str(refused.value) == "arm none, seed 0: no; arm rope, seed 0 failed too"


def test_scores_that_are_none_are_a_divergence_too(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights so large that sums over them overflow are finite, and a step may leave them so."""
    asked = trial.ask

    def overflowing(network: Network, *given: Any, **named: Any) -> Any:
        times.append(network)
        if len(times) == 2:
            raise NotFiniteError("scores[0, 0] is NaN")
        return asked(network, *given, **named)

    times: list[Network] = []
    monkeypatch.setattr(trial, "ask", overflowing)
    out = tmp_path / "out"
    with pytest.raises(InputError) as refused:
        compare(log, replace(PLAN, arms=("rope",), control="rope"), out=out)
    message = str(refused.value)
    assert "diverged: scores on validation are NaN after the last step in epoch 2, step 3: " in message
    assert "the last good checkpoint, epoch 1 (validation " in message
    assert load_artefact(out / "models" / "rope-seed0").provenance.best_epoch == 0


def test_without_a_folder_it_says_so_and_trains_no_other(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, arm=0, epoch=1)
    monkeypatch.setattr(Unwatched, "start", lambda _, arm, seed: started.append(arm))
    started: list[str] = []
    with pytest.raises(InputError, match=r"epoch 2, step 2: .*epoch 1 \(validation .* not written anywhere"):
        compare(log, PLAN)
    assert started == ["none"]


def test_the_model_of_a_training_that_ends_after_all_is_the_one_that_was_asked(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainConfig("town", arm="rope", model=PLAN.model, training=PLAN.protocol.training)
    with monkeypatch.context() as spoilt:
        spoil(spoilt, arm=0, epoch=1, recipe="training_run")
        with pytest.raises(InputError, match=r"the loss is nan in epoch 2, step 2: .* is in .*rope-seed0"):
            train(config, tmp_path / "out", log=log)
    model = tmp_path / "out" / "models" / "rope-seed0"
    assert load_artefact(model).provenance.stopped
    trained = train(config, tmp_path / "out", log=log)
    assert trained is not None
    validation = next(run.validation for run in trained.comparison.runs if run.arm == "rope")
    kept = load_artefact(model).provenance
    assert not kept.stopped
    assert kept.validation_mrr == pytest.approx(max(validation), abs=1e-12)
    assert kept.best_epoch == int(np.argmax(validation))
