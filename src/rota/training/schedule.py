"""Schedule: a training's learning rate and its end, as functions of what is known: no state to resume."""

from collections.abc import Sequence

from rota.training.recipe import Training

__all__: list[str] = []


def learning_rate(training: Training, step: int, validation: Sequence[float]) -> float:
    """Learning rate of a step.

    Args:
        training: The recipe.
        step: Of the whole training, from 0.
        validation: Scores of the epochs done, in order.
    """
    risen = 1.0 if step >= training.warmup else (step + 1) / training.warmup
    return training.learning_rate * risen * training.plateau_factor ** lowered(validation, training.plateau)


def lowered(validation: Sequence[float], plateau: int) -> int:
    """How often the learning rate was lowered: what ``ReduceLROnPlateau`` does, told of these scores.

    Args:
        validation: Scores of the epochs done, in order.
        plateau: Epochs without a better one before it is lowered, and lowered again; 0: never.
    """
    best, worse, times = -float("inf"), 0, 0
    for score in validation:
        best, worse = (score, 0) if score > best else (best, worse + 1)
        if plateau and worse >= plateau:
            times, worse = times + 1, 0
    return times


def best_epoch(validation: Sequence[float]) -> int:
    """The first epoch with the best score, from 0; -1 where none was done."""
    return max(range(len(validation)), key=validation.__getitem__, default=-1)


def is_over(training: Training, validation: Sequence[float]) -> bool:
    """Whether a training ends after these epochs: all are done, or the last ones brought nothing better."""
    done = len(validation)
    return done >= training.epochs or (done > 0 and done - 1 - best_epoch(validation) >= training.patience)
