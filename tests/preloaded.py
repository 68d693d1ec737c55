"""The command line for a test that starts it often: imported once, then forked, so each run is a process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_FORKING = """
import json, os, sys
import rota.recipes.train_live, rota.recipes.training_run  # what takes seconds
from rota.cli import run
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os._exit(run(json.loads(line)))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Preloaded:
    """Runs the command line, one run at a time, without importing it again."""

    def __init__(self, server: "subprocess.Popen[str]") -> None:
        self._server = server

    def start(self, arguments: Sequence[str]) -> int:
        """Start `rota` with arguments; the number of its process, for which `ended` must be asked."""
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(list(arguments)) + "\n")
        self._server.stdin.flush()
        return self._answer()

    def ended(self) -> int:
        """Wait for what was started; its exit code, negative for a signal."""
        return self._answer()

    def run(self, arguments: Sequence[str]) -> None:
        """Start and wait; it must end well."""
        self.start(arguments)
        assert self.ended() == 0

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())


@contextmanager
def preloaded(folder: Path) -> Iterator[Preloaded]:
    """The command line, imported, in a folder and on one thread, so that a fork has all that there is."""
    with subprocess.Popen(
        [sys.executable, "-c", _FORKING], cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        try:
            yield Preloaded(server)
        finally:
            server.send_signal(signal.SIGKILL)
