"""The doctor's report on every real log, figure by figure, against what is kept in tests/golden/inspect.

After a change that is meant, write them anew and read the difference:

    ROTA_WRITE_GOLDEN=1 python -m pytest tests/data/doctor/test_doctor_golden.py
"""

import json
import os
from datetime import date
from pathlib import Path

import pytest

from rota.recipes.inspecting import inspect_log, save_diagnosis

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "inspect"
NOW = date(2026, 11, 30)
LOGS: dict[str, dict[str, str]] = {
    "complete_journey": {},
    "email_eu": {"epoch": "unknown", "unit": "s"},
    "fsq_nyc": {"zone": "America/New_York"},
    "git_commits_all": {"offset_column": "tz_min"},
    "mathoverflow": {},
    "ml_100k": {},
    "ml_latest_small": {},
    "online_retail": {"ties": "unordered"},
    "so_badges": {},
}


@pytest.mark.data
@pytest.mark.parametrize("name", LOGS)
def test_the_report_is_as_it_was(name: str, shared_data: Path, tmp_path: Path) -> None:
    found = inspect_log(
        str(shared_data / f"{name}.parquet"),
        now=NOW, user="user_id", item="item_id", time="timestamp", **LOGS[name],
    )  # fmt: skip
    golden, written = GOLDEN / f"{name}.json", tmp_path / f"{name}.json"
    save_diagnosis(found, written)
    if os.environ.get("ROTA_WRITE_GOLDEN"):
        golden.write_bytes(written.read_bytes())
    assert json.loads(written.read_text()) == json.loads(golden.read_text())


@pytest.mark.data
def test_every_log_of_the_folder_has_a_report(shared_data: Path) -> None:
    assert sorted(path.stem for path in shared_data.glob("*.parquet")) == sorted(LOGS)
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == sorted(LOGS)
