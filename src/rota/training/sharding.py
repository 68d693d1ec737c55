"""Sharding: weights, gradients and optimizer state dealt to the processes of a training (FSDP2)."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from rota.encodings.clipping import clip_groups
from rota.errors import InputError
from rota.models.base import Network
from rota.training.processes import Processes, alive

__all__: list[str] = []

# What these hold is large, and used by their own forward alone. Whatever else there is stays whole in every
# process: what encodings learn is float64 and small, and a bias of pairs is asked from outside of its block.
_DEALT = (nn.Linear, nn.Embedding, nn.LayerNorm)
_GLOO = "gloo/transport"  # in what it says where another process is gone
_TINY = 1e-6  # as torch.nn.utils.clip_grad_norm_


@contextmanager
def sharing() -> Iterator[None]:
    """What FSDP2 has to say while shares are brought together, as rota says it.

    Raises:
        InputError: Another process has died.
    """
    with warnings.catch_warnings(), alive(_GLOO):
        warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view")  # none is written into
        yield


def require_shards(processes: Processes, precision: str) -> None:
    """Refuse to shard where it cannot be done.

    Raises:
        InputError: There is one process, or the precision is 16-mixed.
    """
    if processes.count == 1:
        raise InputError(
            "sharded with one process: expected two at least, to deal the weights to; start it as torchrun "
            "--nproc-per-node 2 -m rota train CONFIG --out DIR, or set sharded = false"
        )
    if precision == "16-mixed":  # its scale must follow from the gradients of all processes
        raise InputError("sharded with precision 16-mixed: expected 32-true or bf16-mixed")


def sharded_copy(network: Network, device: str, processes: Processes) -> Network:
    """Copy of a network of which each process holds its share, as rows of every matrix.

    A block's weights are whole only while it computes, those outside of blocks from the forward to the end of
    the backward pass. Gradients are sums over the processes, as `Processes.add_up` gives them.

    Args:
        network: The same in every process, on the host.
        device: ``"cpu"`` or ``"cuda"``.
        processes: Those that share it.
    """
    copy = deepcopy(network)
    mesh = init_device_mesh(device, (processes.count,))
    kept = _kept_whole(copy)
    for part in (*copy.get_submodule("blocks").children(), copy):
        fully_shard(part, mesh=mesh, reshard_after_forward=part is not copy, ignored_params=kept)
        assert isinstance(part, FSDPModule)
        part.set_gradient_divide_factor(1.0)
        part.set_force_sum_reduction_for_comms(True)  # gloo can do no other
    return copy.to(device)


def _kept_whole(network: Network) -> set[nn.Parameter]:
    clocks = {id(parameter) for parameter in clip_groups(network)[1]}
    dealt = {
        id(parameter)
        for module in network.modules()
        if isinstance(module, _DEALT)
        for parameter in module.parameters(recurse=False)
        if parameter.dtype == torch.float32
    }
    return {parameter for parameter in network.parameters() if id(parameter) not in dealt - clocks}


def is_sharded(tensor: Tensor) -> bool:
    """Whether this process holds a share of it only."""
    return isinstance(tensor, DTensor)


def share(tensor: Tensor) -> Tensor:
    """What this process holds of a tensor, in the same memory."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor; the processes must ask for it together."""
    return tensor.full_tensor().detach() if isinstance(tensor, DTensor) else tensor


def dealt_like(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, or this process's share of it if it has one only of a tensor of that shape."""
    if isinstance(like, DTensor) and like.shape == tensor.shape:
        return distribute_tensor(tensor, like.device_mesh, like.placements, src_data_rank=None)
    return tensor


def gathered(tensors: Mapping[str, Tensor], processes: Processes) -> dict[str, Tensor]:
    """All of the tensors: what was dealt on the host, one after the other, in the first process alone."""
    found = {}
    for name, tensor in sorted(tensors.items()):  # what was read from a file is in another order in each
        full = whole(tensor)
        if full is tensor or processes.leads:
            found[name] = full if full is tensor else full.cpu()
    return found


def bound_norm(parameters: list[nn.Parameter], limit: float, processes: Processes) -> None:
    """Scale down gradients whose common norm is above a limit, as ``clip_grad_norm_``, of shares too."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return
    squares = torch.zeros(2, dtype=torch.float64, device=gradients[0].device)  # of shares, of what is whole
    for gradient in gradients:
        squares[0 if is_sharded(gradient) else 1] += share(gradient).double().square().sum()
    processes.add_up([squares[:1]])
    scale = (limit / (squares.sum().sqrt() + _TINY)).clamp(max=1.0)
    for gradient in gradients:
        share(gradient).mul_(scale)


@contextmanager
def informed(network: Network, learner: Network, device: str) -> Iterator[None]:
    """Let a network know all that its sharded copy has learnt, and be on the device while this lasts.

    Args:
        network: Whole, on the host; or the learner itself, and nothing is done.
        learner: What learns.
        device: Where it is asked.
    """
    if network is learner:
        yield
        return
    teach(network, learner)
    network.to(device)
    try:
        yield
    finally:
        network.cpu()


def teach(network: Network, learner: Network) -> None:
    """Copy all that a sharded copy has learnt into the network."""
    own = network.state_dict()
    with torch.no_grad():
        for name, tensor in learner.state_dict().items():
            own[name].copy_(whole(tensor))
