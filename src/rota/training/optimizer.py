"""Optimizer: what is decayed, what is clipped, and its state as tensors by name."""

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from rota.encodings.clipping import clip_groups
from rota.models.base import Network
from rota.training.processes import Processes
from rota.training.recipe import Training
from rota.training.sharding import bound_norm, dealt_like, is_sharded

__all__: list[str] = []


def adamw(network: Network, training: Training) -> AdamW:
    """AdamW that decays matrices alone; vectors, embeddings and what encodings learn are left."""
    decayed = {id(module.weight) for module in network.modules() if isinstance(module, nn.Linear)}
    groups = []
    for shared in (False, True):  # torch does not mix what is whole with what is sharded
        parameters = [p for p in network.parameters() if is_sharded(p) == shared]
        groups += [
            {"params": [p for p in parameters if id(p) in decayed], "weight_decay": training.weight_decay},
            {"params": [p for p in parameters if id(p) not in decayed], "weight_decay": 0.0},
        ]
    return AdamW([group for group in groups if group["params"]], lr=training.learning_rate, fused=True)


class Clipping:
    """Bounds the norms of gradients, that of what encodings learn apart from all others."""

    def __init__(self, network: Network, training: Training, processes: Processes) -> None:
        self.processes = processes
        limits = (training.clip, training.clip_coefficients)
        groups = zip(clip_groups(network), limits, strict=True)
        self.bounded = [(group, limit) for group, limit in groups if group and limit is not None]

    def bound(self) -> None:
        """Scale down the gradients of each group whose norm is above its limit."""
        for group, limit in self.bounded:
            if any(map(is_sharded, group)):
                bound_norm(group, limit, self.processes)
            else:
                clip_grad_norm_(group, limit)


def state_tensors(optimizer: AdamW, network: Network) -> dict[str, Tensor]:
    """State of the optimizer, by the names of what it belongs to; parameters without a step have none."""
    return {
        f"{name}/{key}": value
        for name, parameter in network.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def restore_state(optimizer: AdamW, network: Network, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `state_tensors` returned, whole, on the device of each parameter.

    Args:
        optimizer: Of this network.
        network: The network.
        tensors: The state.
    """
    parameters = dict(network.named_parameters())
    for where, value in tensors.items():
        name, _, key = where.rpartition("/")
        own = value.to(parameters[name].device, copy=True)
        optimizer.state[parameters[name]][key] = dealt_like(own, parameters[name])


def set_rate(optimizer: AdamW, rate: float) -> None:
    """Give every group this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate
