"""Two processes of torchrun: the same batches as one, and one that dies ends the job with a message."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "spread.py"
SPREAD = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def start(command: list[str], *given: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*command, str(SCRIPT), *given],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    """Dropout included: the two parts of a step have the masks that they have in one process."""
    found: list[dict[str, Any]] = []
    for command in ([sys.executable], SPREAD):
        done = start(command, str(tmp_path / "out.json"))
        assert done.returncode == 0, done.stderr
        found.append(json.loads((tmp_path / "out.json").read_text()))
    one, two = found
    assert len(one["losses"]) > 50
    assert np.allclose(one["losses"], two["losses"], rtol=0, atol=1e-5)
    assert np.allclose(one["weights"], two["weights"], rtol=0, atol=1e-5)
    assert (one["validation"], one["ranks"]) == (two["validation"], two["ranks"])
    assert two["same"]  # the same bits in both processes


@pytest.mark.slow
def test_a_process_that_dies_ends_the_job_with_a_message(tmp_path: Path) -> None:
    done = start(SPREAD, str(tmp_path / "out.json"), "1")
    assert done.returncode != 0
    assert "error: another process of this training has died" in done.stderr
    assert "the same command goes on from the last checkpoint" in done.stderr
    assert not (tmp_path / "out.json").exists()
