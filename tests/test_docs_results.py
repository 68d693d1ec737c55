"""The page of results says what the kept files say."""

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
STUDIES = re.findall(r"<!-- ([\w-]+) -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)


PEER = "ml_100k-rectools"
Script = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    """A benchmark by its name, which finds those beside it."""

    def of(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"results_{name}", ROOT / "benchmarks" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        patched.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "benchmarks"))
        yield of


@pytest.mark.parametrize(("study", "written"), [pytest.param(*each, id=each[0]) for each in STUDIES])
def test_a_table_is_what_is_kept(study: str, written: str, script: Script) -> None:
    if study == PEER:
        peer = script("rectools_peer")
        assert written == peer.section(json.loads(peer.RESULT.read_text(encoding="utf-8")))
    else:
        assert written == script("quality").section(study)


def test_each_study_that_is_kept_is_on_the_page(script: Script) -> None:
    quality = script("quality")
    kept = {path.stem for path in quality.RESULTS.glob("*.json")} & {*quality.STUDIES, PEER}
    assert kept == {study for study, _ in STUDIES}
    for picture in re.findall(r"\]\((images/[\w.-]+)\)", PAGE):
        assert (ROOT / "docs" / picture).is_file()
