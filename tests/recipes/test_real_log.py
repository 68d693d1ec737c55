"""The command on a real log of check-ins: what it reads, and what the untrained baselines reach on it."""

import json
from pathlib import Path

import pytest

from rota import cli
from rota.recipes.baselines import untrained_names


@pytest.mark.slow
@pytest.mark.data
def test_check_ins_in_new_york(shared_data: Path, tmp_path: Path) -> None:
    options = (
        "--user user_id --item item_id --time timestamp --arms rope,rope+clockrope --seeds 1 --epochs 1 "
        f"--embedding-dim 16 --max-len 20 --out {tmp_path / 'out'}"
    )
    assert cli.run(["compare", str(shared_data / "fsq_nyc.parquet"), *options.split()]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    data = results["data"]
    assert (data["rows"], data["users"], data["items"], data["ties"]) == (147_480, 1083, 5135, 6847)
    metrics = {entry["arm"]: entry["metrics"] for entry in results["arms"]}
    reached = {
        name: [metrics[name][key] for key in ("HR@1", "HR@10", "MRR")] for name in ("frequency", "routine")
    }
    assert reached["frequency"] == pytest.approx([0.250, 0.608, 0.372], abs=0.003)
    assert reached["routine"] == pytest.approx([0.311, 0.605, 0.415], abs=0.003)
    assert set(metrics) == {"rope", "rope+clockrope", *untrained_names()}
