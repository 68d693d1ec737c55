"""The page of results says what the kept files say."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
STUDIES = re.findall(r"<!-- ([\w-]+) -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def quality() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quality", ROOT / "benchmarks" / "quality.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("study", "written"), [pytest.param(*each, id=each[0]) for each in STUDIES])
def test_a_table_is_what_is_kept(study: str, written: str, quality: ModuleType) -> None:
    assert written == quality.section(study)


def test_each_study_that_is_kept_is_on_the_page(quality: ModuleType) -> None:
    kept = {path.stem for path in quality.RESULTS.glob("*.json")} & set(quality.STUDIES)
    assert kept == {study for study, _ in STUDIES}
    for picture in re.findall(r"\]\((images/[\w.-]+)\)", PAGE):
        assert (ROOT / "docs" / picture).is_file()
