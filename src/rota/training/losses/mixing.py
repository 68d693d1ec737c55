"""Whether a loss can be mixed with what a repeat head says."""

from rota.errors import InputError
from rota.training.losses.base import Loss

__all__: list[str] = []


def require_likelihood(loss: Loss, repeats: bool) -> None:
    """Refuse a loss that is not the likelihood of what is ranked, beside a repeat head that is mixed in.

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
    if repeats and getattr(loss, "temperature", 1) != 1:
        raise InputError(
            f"{type(loss).__name__} with a temperature beside a repeat head: the mixture that is ranked has "
            "the temperature of the model alone; put it there (--temperature, or similarity.temperature)"
        )
