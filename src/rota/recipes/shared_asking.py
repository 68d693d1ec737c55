"""Shared asking: the questions of a stage dealt to the processes of a training, each asked once."""

import numpy as np
import torch

from rota.evaluation.positives import Positives
from rota.evaluation.protocol import ask
from rota.histories import Histories, Spans, flat_rows
from rota.models.base import Network
from rota.recipes.protocol import Protocol
from rota.training.processes import Processes
from rota.types import Int64Array

__all__: list[str] = []

_TOGETHER = 256  # asked at once, so that each is in the company that it has in one process


def ask_shared(
    network: Network, histories: Histories, spans: Spans, protocol: Protocol, processes: Processes
) -> Int64Array:
    """Ranks of all positives of a stage, as `ask` gives them, in every process.

    Args:
        network: The same in every process.
        histories: All events.
        spans: The stage.
        protocol: How it is asked.
        processes: Those that share the work.

    Raises:
        InputError: As `ask`, or another process has died.
    """
    how = {
        "access": protocol.time_access, "seen": protocol.seen, "device": protocol.device,
        "batch_size": _TOGETHER,
    }  # fmt: skip
    if processes.count == 1:
        return ask(network, histories, spans, **how)  # type: ignore[arg-type]
    lengths = np.minimum(spans.stops - spans.starts, network.max_len or np.iinfo(np.int64).max)
    longest_first = np.argsort(-lengths, kind="stable")
    blocks = np.arange(len(lengths)) // _TOGETHER
    own = longest_first[blocks % processes.count == processes.rank]
    offsets = Positives.of(histories, spans).offsets
    found = torch.zeros(int(offsets[-1]), dtype=torch.int64)
    if len(own):
        mine = Spans(*(column[own] for column in spans))
        ranks = ask(network, histories, mine, **how)  # type: ignore[arg-type]
        found[torch.from_numpy(flat_rows(offsets[own], offsets[own + 1]))] = torch.from_numpy(ranks)
    found = found.to(protocol.device)
    processes.add_up([found])
    return np.asarray(found.cpu().numpy())
