"""Stopping: a signal lets a training end at a step's end, where it can be kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rota.training.loop import StoppedError
from rota.training.processes import DeadProcessError

__all__: list[str] = []

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stopper:
    """Whether a training is still wanted.

    Attributes:
        received: The signal that came, or ``None``.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._training = False
        self._before: dict[signal.Signals, Any] = {}

    def wanted(self) -> bool:
        """Whether no signal came."""
        return self.received is None

    @contextmanager
    def training(self) -> Iterator[None]:
        """While this lasts a signal is noted; else it ends what is done at once, for nothing is lost.

        Raises:
            StoppedError: One came before, or when there was no step any more to end at.
        """
        if not self.wanted():
            raise StoppedError
        self._training = True
        try:
            yield
        except BaseException as error:
            self._training = isinstance(error, DeadProcessError)  # see `stoppable`
            raise
        self._training = False
        if not self.wanted():
            raise StoppedError

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; a second Ctrl-C does what it did before."""
        self.received = signal.Signals(number)
        signal.signal(signal.SIGINT, self._before[signal.SIGINT])
        if not self._training:
            raise StoppedError


@contextmanager
def stoppable() -> Iterator[Stopper]:
    """Let SIGTERM and Ctrl-C end a training in good order; outside the main thread nothing is changed.

    Where another process has died, torchrun sends SIGTERM to those that are left: it is not heard from then
    on, so that they can say why they end. One that does not end is killed.
    """
    stopper = Stopper()
    if threading.current_thread() is not threading.main_thread():
        yield stopper
        return
    stopper._before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        signal.signal(number, stopper.take)
    try:
        yield stopper
    except DeadProcessError:
        stopper._before[signal.SIGTERM] = signal.SIG_IGN
        raise
    finally:
        for number, handler in stopper._before.items():
            signal.signal(number, handler)
