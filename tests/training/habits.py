"""A small world to learn, and a training of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from rota.batch import TimeAccess
from rota.encodings.base import Encoding
from rota.encodings.none import NoEncoding
from rota.evaluation.metrics.mrr import MRR
from rota.evaluation.protocol import ask
from rota.evaluation.seen import SeenItems
from rota.histories import Histories, Spans
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.models.transformer import Transformer
from rota.training.loop import fit
from rota.training.progress import Fitted
from rota.training.recipe import Training
from rota.training.windows import TrainingWindows

HOUR = 3600


@dataclass
class World:
    """Users with a habit: one item in the morning, another in the evening."""

    histories: Histories
    train: Spans
    test: Spans

    def windows(self, max_len: int = 10) -> TrainingWindows:
        return TrainingWindows(self.histories, self.train, max_len, TimeAccess.REQUEST)

    def score(self, network: Network) -> float:
        return float(MRR()(self.ranks(network)).mean())

    def ranks(self, network: Network) -> np.ndarray:
        return ask(network, self.histories, self.test, access=TimeAccess.REQUEST, seen=SeenItems.KEEP)


def habits(users: int = 10, days: int = 12, missed: int = 0) -> World:
    """The world; each user has ``missed`` days less than the one before."""
    spans = [days - missed * user for user in range(users)]
    items = np.concatenate([np.tile([2 * u, 2 * u + 1], own) for u, own in enumerate(spans)]).astype(np.int64)
    times = np.concatenate(
        [np.sort(np.concatenate([np.arange(own) * 24 + 8, np.arange(own) * 24 + 20])) * HOUR for own in spans]
    ).astype(np.int64)
    offsets = np.concatenate([[0], 2 * np.cumsum(spans)]).astype(np.int64)
    everyone = np.arange(users)
    train = Spans(everyone, offsets[:-1], offsets[1:] - 1, offsets[1:] - 1)
    test = Spans(everyone, offsets[:-1], offsets[1:] - 1, offsets[1:])
    return World(Histories(items, times, offsets, 2 * users), train, test)


def blueprint(
    encoding: Encoding | None = None,
    seed: int = 0,
    dropout: float = 0.1,
    items: int = 20,
    num_layers: int = 2,
) -> Blueprint:
    model = Transformer(
        encoding or NoEncoding(), embedding_dim=16, num_layers=num_layers, num_heads=2, max_len=10,
        dropout=dropout,
    )  # fmt: skip
    return Blueprint(model, items, "s", "request", seed)


def trained(
    world: World, training: Training, plan: Blueprint | None = None, **named: Any
) -> tuple[Network, Fitted]:
    """A network after a training in this world."""
    plan = plan or blueprint(items=world.histories.num_items)
    network = plan.build()
    quiet: dict[str, Callable[..., Any]] = {
        "validate": lambda: world.score(network), "keep": lambda: None, "report": lambda progress: None
    }  # fmt: skip
    return network, fit(network, world.windows(), training, seed=plan.seed, **(quiet | named))


def weights(network: torch.nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().double().flatten() for parameter in network.parameters()])
