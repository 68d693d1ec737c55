"""Sharded among two processes a training comes to what it comes to whole; and one may go on as the other."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from habits import habits, trained, weights
from sharded_worlds import PLANS, TRAINING
from torch import nn
from torch.nn.utils import clip_grad_norm_

from rota.errors import InputError
from rota.training.processes import Processes
from rota.training.sharding import bound_norm, require_shards
from rota.training.snapshots import Snapshots

SCRIPT = Path(__file__).parent / "sharded.py"
SPREAD = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(SCRIPT)]


def start(*given: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*SPREAD, *given],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `sharded.py` left."""
    folder = tmp_path_factory.mktemp("sharded")
    done = start(str(folder))
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "found.json").read_text()))


def require_alike(own: dict[str, Any], other: dict[str, Any]) -> None:
    """Sums are made in another order, and no more."""
    many = len(own["losses"])
    assert np.allclose(own["losses"], other["losses"][-many:], rtol=1e-5, atol=0)
    assert np.allclose(own["weights"], other["weights"], rtol=0, atol=5e-4)
    assert (own["validation"], own["ranks"]) == (other["validation"], other["ranks"])


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_sharded_is_whole(found: dict[str, Any], name: str) -> None:
    """Weights that FSDP2 leaves whole, clipping of both groups, parts without windows, the best epoch."""
    whole, sharded = found[name]
    assert sharded["kind"] == whole["kind"]  # what is left is the network, not what FSDP2 makes of it
    assert len(whole["losses"]) == 6
    assert sharded["validation"][2] < 0 < sharded["validation"][0]
    require_alike(sharded, whole)


@pytest.mark.slow
def test_each_process_holds_about_half(found: dict[str, Any]) -> None:
    weight, state = found["shares"]
    assert 0.49 < weight < 0.52
    assert 0.49 < state < 0.52


@pytest.mark.slow
def test_a_sharded_training_goes_on_to_the_bit(found: dict[str, Any]) -> None:
    own, other = found["on"], found["transformer"][1]
    assert len(own["losses"]) == 1
    assert own["losses"] == other["losses"][-len(own["losses"]) :]
    for key in ("weights", "ranks", "validation"):
        assert own[key] == other[key]


@pytest.mark.slow
def test_its_snapshots_are_those_of_any_training(found: dict[str, Any], folder: Path) -> None:
    """Two processes that hold all weights go on with them, and one process alone."""
    require_alike(found["whole"], found["transformer"][0])
    shutil.copytree(folder / "other", folder / "alone")
    for path in sorted((folder / "alone").iterdir())[2:]:
        path.unlink()
    world = habits(12, 14, missed=1)
    network, fitted = trained(
        world,
        TRAINING,
        PLANS["transformer"],
        snapshots=Snapshots(folder / "alone", "me"),
        validate=lambda: -1.0,
    )
    assert np.allclose(weights(network).tolist(), found["transformer"][0]["weights"], rtol=0, atol=5e-4)
    assert list(fitted.validation[:2]) == found["transformer"][1]["validation"][:2]


@pytest.mark.slow
def test_a_share_that_diverges_ends_the_training_in_all_processes(found: dict[str, Any]) -> None:
    message = "the training has diverged: weights are not finite after the last step in epoch 2, step 2"
    assert found["diverged"]["message"].startswith(message)
    assert (found["diverged"]["told"], found["diverged"]["best"]) == (2, 0)
    assert found["diverged"]["finite"]


@pytest.mark.slow
def test_a_process_that_dies_ends_a_sharded_job_with_a_message(tmp_path: Path) -> None:
    done = start(str(tmp_path), "1")
    assert done.returncode != 0
    assert "error: another process of this training has died" in done.stderr
    assert "the same command goes on from the last checkpoint" in done.stderr


@pytest.mark.parametrize(
    ("count", "precision", "message"),
    [(1, "32-true", "sharded with one process: expected two"), (2, "16-mixed", "sharded with precision 16")],
)
def test_what_cannot_be_sharded_is_refused(count: int, precision: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        require_shards(Processes(0, count), precision)


def test_one_process_is_refused_before_anything_is_trained() -> None:
    with pytest.raises(InputError, match="sharded with one process: expected two"):
        trained(habits(4, 4), TRAINING, sharded=True)


@pytest.mark.parametrize("limit", [1e-3, 0.7, 1e3])
def test_norms_of_shares_are_bounded_as_torch_bounds_them(limit: float) -> None:
    torch.manual_seed(0)
    own, other = ([nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(2, 2))] for _ in range(2))
    for one, two in zip(own, other, strict=True):
        one.grad = torch.randn(one.shape)
        two.grad = one.grad.clone()
    clip_grad_norm_(own, limit)
    bound_norm([*other, nn.Parameter(torch.zeros(1))], limit, Processes())
    for one, two in zip(own, other, strict=True):
        assert one.grad is not None
        assert two.grad is not None
        assert torch.allclose(one.grad, two.grad, rtol=1e-6)
