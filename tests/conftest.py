"""What every test may use, and the one reason for which a test may be skipped."""

import os
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
import torch
from hypothesis import settings

# Machines differ; a slow one has not found a bug. In CI examples depend on the code alone: what fails there
# fails here with CI=1, and what has not changed does not fail by chance. People's own runs keep searching.
settings.register_profile(
    "rota",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=int(os.environ.get("ROTA_EXAMPLES", "25")),  # `scripts/check all` has more
)
settings.load_profile("rota")

SHARED = Path(__file__).parent.parent.parent / "shared"
ABSENT = "the folder ../shared is absent"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real logs; tests that need it skip only where the folder is absent."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED / "data"


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """Turn the checks of shapes off: they are Python, which torch.compile cannot take into a graph."""
    jaxtyping.config.update("jaxtyping_disable", True)
    torch.compiler.reset()
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.append(f"{report.nodeid}: {report.longrepr}")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.append(f"{report.nodeid}: {report.longrepr}")


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """A test that is skipped for any other reason fails the run: it would pass for done."""
    yield
    if any(ABSENT not in reason for reason in _skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reason in _skipped:
        if ABSENT not in reason:
            terminalreporter.write_line(f"FAILED for a skip that is not allowed: {reason}", red=True)
