"""Scripts of benchmarks/, for the tests of the pages that they write."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_FOLDER = Path(__file__).parent.parent / "benchmarks"


def benchmark(name: str, patched: pytest.MonkeyPatch) -> ModuleType:
    """A script by its name, which finds those beside it, as a module that no other test meets."""
    patched.syspath_prepend(str(_FOLDER))
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", _FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    patched.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module
