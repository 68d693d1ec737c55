"""A cache for each test."""

from pathlib import Path

import pytest
from published import Cache, folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    return folder(tmp_path, monkeypatch)
