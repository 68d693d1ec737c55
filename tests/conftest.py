"""What every test may use."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parent.parent.parent / "shared"
ABSENT = "the folder ../shared is absent"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real logs; tests that need it skip only where the folder is absent."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED / "data"
