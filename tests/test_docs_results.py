"""The page of results says what the kept files say."""

import json
import re
from pathlib import Path

import pytest

from benchmark_scripts import benchmark

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
STUDIES = re.findall(r"<!-- ([\w-]+) -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)


PEER = "ml_100k-rectools"


@pytest.mark.parametrize(("study", "written"), [pytest.param(*each, id=each[0]) for each in STUDIES])
def test_a_table_is_what_is_kept(study: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if study == PEER:
        peer = benchmark("rectools_peer", monkeypatch)
        assert written == peer.section(json.loads(peer.RESULT.read_text(encoding="utf-8")))
    else:
        assert written == benchmark("quality_page", monkeypatch).section(study)


def test_each_study_that_is_kept_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    quality = benchmark("quality_page", monkeypatch)
    kept = {path.parent.name for path in quality.RESULTS.glob("*/study.json")} & {*quality.STUDIES}
    assert {*kept, PEER} == {study for study, _ in STUDIES}
    for picture in re.findall(r"\]\((images/[\w.-]+)\)", PAGE):
        assert (ROOT / "docs" / picture).is_file()


def test_the_table_of_heads_is_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "routines.md").read_text(encoding="utf-8")
    heads = benchmark("heads", monkeypatch)
    (written,) = re.findall(r"<!-- heads -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    assert written == heads.section(json.loads(heads.RESULT.read_text(encoding="utf-8")))
