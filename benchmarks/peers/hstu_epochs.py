"""Seconds of some epochs of HSTU, rota's or the plain port, eager or compiled: what `training.py` starts.

    python hstu_epochs.py LOG SETTINGS

`SETTINGS` is JSON: which (`rota` or `plain`), compiled, arguments, batch, negatives, epochs, threads. Both
learn from the same windows with the same loss, in the same loop. Before it is timed, the port is given rota's
weights, and must say the same of a batch, and learn the same from it, to 1e-4. The first epoch is a warm-up.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from plain_hstu import SLACK, PlainHSTU, as_rota, batches, padded, sampled_softmax
from rota_epochs import COLUMNS
from torch import Tensor, nn

from rota.models import HSTU
from rota.models.hstu import HSTUNetwork
from rota.recipes.opening import open_log, stated
from rota.recipes.question import ask_of
from rota.training import EpochOrder, TrainingWindows
from rota.training.losses import SampledSoftmax
from rota.training.negatives import UniformNegatives

TOLERANCE = 1e-4


def uniform(count: int, items: int, generator: torch.Generator, targets: Tensor) -> Tensor:
    """Negatives of each target, from 1 as the port counts."""
    return torch.randint(1, items + 1, (len(targets), count), generator=generator)


def plain_losses(
    plain: PlainHSTU, called: nn.Module, windows: TrainingWindows, settings: dict[str, Any], epoch: int
) -> Iterator[Tensor]:
    """Loss of each step of an epoch."""
    generator = torch.Generator().manual_seed(epoch)
    for ids, times, wanted in batches(windows, settings["batch"], settings["max_len"] + SLACK, epoch):
        features, real = called(ids, times), wanted > 0
        targets = wanted[real]
        negatives = uniform(settings["negatives"], windows.histories.num_items, generator, targets)
        yield sampled_softmax(plain, features[real], targets, negatives)


def rota_losses(
    network: HSTUNetwork, called: nn.Module, windows: TrainingWindows, settings: dict[str, Any], epoch: int
) -> Iterator[Tensor]:
    """The same by rota's parts."""
    generator = torch.Generator().manual_seed(epoch)
    loss = SampledSoftmax(settings["negatives"], negatives=UniformNegatives())
    order = EpochOrder(windows.lengths, settings["batch"], seed=0)
    order.set_epoch(epoch)
    for indices in order:
        given = windows.collate(indices)
        features = called(given.batch).features.flatten(0, 1)[given.asked]
        yield loss.each(features, given.targets, network.item_embeddings, generator).mean()


def require_equal(plain: PlainHSTU, network: HSTUNetwork, windows: TrainingWindows, max_len: int) -> None:
    """Same weights: same features of a batch, and the same gradient of the items."""
    as_rota(plain, network, max_len)
    plain.eval(), network.eval()
    rows = list(range(0, len(windows), max(1, len(windows) // 32)))[:32]
    ids, times, wanted = padded(windows, rows, max_len + SLACK)
    given = windows.collate(rows)
    one, two = plain(ids, times)[wanted > 0], network(given.batch).features.flatten(0, 1)[given.asked]
    two = two * network.similarity.temperature  # rota's features are divided by it already
    weights = torch.linspace(-1, 1, one.numel()).view_as(one)
    (one * weights).sum().backward()
    (two * weights).sum().backward()
    apart = [one - two, plain.items.weight.grad[1:] - network.events.items.weight.grad]
    sizes = [two, network.events.items.weight.grad]
    for difference, size in zip(apart, sizes, strict=True):
        if difference.abs().max() > TOLERANCE * size.abs().max():
            raise SystemExit("the port does not say what rota says")
    plain.zero_grad(), network.zero_grad()


def timed(losses: Callable[[int], Iterator[Tensor]], model: nn.Module, epochs: int) -> list[float]:
    """Seconds of each epoch but the first."""
    optimizer, seconds = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True), []
    for epoch in range(epochs + 1):
        began = time.perf_counter()
        for loss in losses(epoch):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        seconds.append(time.perf_counter() - began)
    return seconds[1:]


def main() -> None:
    settings = json.loads(sys.argv[2])
    torch.set_num_threads(settings["threads"])
    question = ask_of(open_log(str(Path(sys.argv[1])), stated(**COLUMNS)).log)
    histories, max_len = question.histories, settings["max_len"]
    dim, heads, layers, dropout = (settings[name] for name in ("dim", "heads", "layers", "dropout"))
    recipe = HSTU(embedding_dim=dim, num_heads=heads, num_layers=layers, dropout=dropout, max_len=max_len)
    network = recipe.build(num_items=histories.num_items, unit=histories.unit, time_access="request", seed=0)
    plain = PlainHSTU(histories.num_items, dim, heads, layers, max_len, dropout)
    windows = TrainingWindows(histories, question.stages.train, max_len, "request")
    require_equal(plain, network, windows, max_len)
    model, of = (network, rota_losses) if settings["which"] == "rota" else (plain, plain_losses)
    model.train()
    called = torch.compile(model) if settings["compiled"] else model
    seconds = timed(lambda epoch: of(model, called, windows, settings, epoch), model, settings["epochs"])
    sys.stdout.write(json.dumps({"targets": int(windows.counts.sum()), "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
