"""Manners: what Lightning is asked to leave alone while it trains: warnings, its loggers, and Ctrl-C."""

import logging
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__: list[str] = []

_LOGGERS = ("lightning.pytorch", "lightning.fabric")
_SAID_ON_PURPOSE = (
    ".*does not have many workers.*",  # batches are cut from arrays in memory
    ".*GPU available but not used.*",  # the caller chose the device
    ".*smaller than the logging interval.*",  # there is no logger
    ".*LeafSpec.*is deprecated.*",  # Lightning's own affair
)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what Lightning says about choices that are made here on purpose."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        for said in _SAID_ON_PURPOSE:
            warnings.filterwarnings("ignore", said)
        for logger in loggers:
            logger.setLevel(logging.WARNING)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt: Lightning leaves Python instead, and deaf to the next Ctrl-C."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit as left:
        if not isinstance(left.__context__, KeyboardInterrupt):
            raise
        signal.signal(signal.SIGINT, handler)
        raise KeyboardInterrupt from None
