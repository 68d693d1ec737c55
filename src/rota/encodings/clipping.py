"""Gradient clipping that does not let the coefficients of a clock starve the weights."""

from torch import nn

from rota.encodings.base import Rotation


def clip_groups(network: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """What a network learns, in two groups whose gradients are to be clipped each by its own norm.

    The gradient of T-RoPE's coefficients carries a factor ``t / beta``, up to 1.7e7 today, so that a common
    norm is theirs alone: at a limit of 1 the weights of a toy attention were left 1.9e-4 of their gradient.
    "Must be clipped" (T-RoPE, App. B.1) is so obeyed without stopping everything else.

    Args:
        network: With rotations anywhere in it, or a rotation.

    Returns:
        What no rotation learns, then what rotations learn, each in the order of the network, and once.
    """
    clocks = {
        id(parameter): parameter
        for module in network.modules()
        if isinstance(module, Rotation)
        for parameter in module.parameters()
    }
    weights = [parameter for parameter in network.parameters() if id(parameter) not in clocks]
    return weights, list(clocks.values())
