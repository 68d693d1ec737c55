"""Processes: one training spread over several that ``torchrun`` started, each with the same weights."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed
from torch.distributed.rendezvous import rendezvous

from rota.errors import InputError

__all__: list[str] = []

_BACKENDS = {"cpu": "gloo", "cuda": "nccl"}


class DeadProcessError(InputError):
    """Another process of a training has died, and so it ends."""


@dataclass(frozen=True)
class Processes:
    """Those of one training; by itself, this one alone.

    Attributes:
        rank: Which of them this is, from 0; the first writes and speaks for all.
        count: How many there are.
    """

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this one writes and speaks."""
        return self.rank == 0

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their sums over all processes, the same bits in each.

        Raises:
            DeadProcessError: Another process has died.
        """
        if self.count == 1:
            return
        for kind in {tensor.dtype: None for tensor in tensors}:
            own = [tensor for tensor in tensors if tensor.dtype == kind]
            flat = torch.cat([tensor.flatten() for tensor in own])
            self._reduce(flat)
            parts = flat.split([tensor.numel() for tensor in own])
            for tensor, part in zip(own, parts, strict=True):
                tensor.copy_(part.view_as(tensor))

    def require_agreed(self, numbers: Sequence[int], what: str, device: torch.device) -> None:
        """Refuse to go on where processes hold different numbers.

        Raises:
            InputError: They do, or another process has died.
        """
        table = torch.zeros(self.count, len(numbers), dtype=torch.int64, device=device)
        table[self.rank] = torch.tensor(numbers, device=device)
        self.add_up([table])
        if (table != table[0]).any():
            raise InputError(
                f"the processes of this training have different {what}: {table.tolist()}; expected one "
                "folder that all of them see"
            )

    def _reduce(self, flat: Tensor) -> None:
        with alive():
            distributed.all_reduce(flat)


@contextmanager
def alive(sign: str = "") -> Iterator[None]:
    """Say of what processes do together that one of them has died, if that is why it fails.

    Args:
        sign: Text by which such an error is known, where there may be others.

    Raises:
        DeadProcessError: It is.
    """
    try:
        yield
    except RuntimeError as error:
        if sign not in str(error) and not isinstance(error, distributed.DistError):
            raise
        reason = " ".join(str(error).split())
        raise DeadProcessError(
            f"another process of this training has died ({reason[:200]}): see what it said; the same "
            "command goes on from the last checkpoint"
        ) from error


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """The processes that ``torchrun`` started, where it did.

    Args:
        device: ``"cpu"`` or ``"cuda"``; each process has a GPU of its own.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    with alive():
        _join(_BACKENDS[device])
    try:
        yield Processes(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()


def _join(backend: str) -> None:
    """Join the others. After a restart the store of torchrun still has addresses of those before."""
    found, rank, count = next(rendezvous("env://"))
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    store = distributed.PrefixStore(f"attempt {attempt}", found)  # type: ignore[attr-defined]
    distributed.init_process_group(backend, store=store, rank=rank, world_size=count)
