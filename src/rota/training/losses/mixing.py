"""Whether a loss can be mixed with what a repeat head says."""

from rota.errors import InputError
from rota.training.losses.base import Loss

__all__: list[str] = []


def require_likelihood(loss: Loss, repeats: bool) -> None:
    """Refuse a loss that is no likelihood beside a repeat head, which is mixed in as probabilities are.

    Args:
        loss: Over the catalogue.
        repeats: Whether the network has a repeat head.

    Raises:
        InputError: It is refused.
    """
    if repeats and not loss.is_likelihood:
        raise InputError(
            f"{type(loss).__name__} as it is gives no probability of an item in the catalogue, which a "
            "repeat head needs: use full_softmax, or sampled_softmax(log_q=True), or no repeat head"
        )
