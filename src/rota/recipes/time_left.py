"""Time left: how long the trainings of a comparison will still take, from how long those so far took."""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__: list[str] = []

_LEAST = 0.1  # epochs after which a pace means something


@dataclass
class Pace:
    """One training, as far as it is known.

    Attributes:
        arm: Trainings of one arm are taken to be equally fast.
        seconds: That it has taken in this run.
        epochs: Done in these seconds, with the share that is done of the current one.
        length: How many it had in all; ``None`` until it is done.
    """

    arm: str
    seconds: float = 0.0
    epochs: float = 0.0
    length: int | None = None


def seconds_left(trainings: Sequence[Pace], most_epochs: int, processes: int) -> float | None:
    """Seconds until all are done, each taken up when one before it is done.

    Those that wait are taken to have as many epochs as those that are done, and to be as fast as others of
    their arm, or else as all.

    Args:
        trainings: In the order in which they are taken up.
        most_epochs: That each can have.
        processes: How many are under way at once.

    Returns:
        The seconds, or ``None`` as long as nothing is known.
    """
    ahead = [training for training in trainings if training.length is None]
    if not ahead:
        return 0.0
    everyone = _pace(trainings)
    if everyone is None:
        return None
    lengths = [training.length for training in trainings if training.length is not None]
    expected = sum(lengths) / len(lengths) if lengths else float(most_epochs)
    busy = [0.0] * max(1, processes)
    for training in ahead:
        pace = _pace([each for each in trainings if each.arm == training.arm]) or everyone
        epochs = max(expected, min(math.ceil(training.epochs), most_epochs)) - training.epochs
        heapq.heapreplace(busy, busy[0] + epochs * pace)
    return max(busy)


def in_words(seconds: float | None) -> str:
    """How a person would say it."""
    if seconds is None:
        return "time left not known yet"
    minutes = math.ceil(seconds / 60)
    if seconds < 60:
        return f"about {max(5, 5 * math.ceil(seconds / 5))} s left"
    if minutes < 100:
        return f"about {minutes} min left"
    hours = math.ceil(minutes / 60)
    return f"about {hours} h left" if hours < 48 else f"about {math.ceil(hours / 24)} days left"


def _pace(trainings: Sequence[Pace]) -> float | None:
    """Seconds of an epoch."""
    epochs = sum(each.epochs for each in trainings)
    return sum(each.seconds for each in trainings) / epochs if epochs >= _LEAST else None
