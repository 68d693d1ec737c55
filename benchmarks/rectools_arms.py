"""Which models of rota and RecTools are trained beside each other, and what each is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDTH, LAYERS, HEADS, LENGTH, DROPOUT, TEMPERATURE = 64, 2, 2, 100, 0.2, 0.05
EPOCHS, PATIENCE, BATCH, RATE = 60, 8, 32, 1e-3


@dataclass(frozen=True)
class Arm:
    """One model of one library.

    Attributes:
        library: `rota` or `rectools`: whose script trains it.
        kind: `sasrec` or `hstu`.
        settings: What that script is told, but for the seed.
        against: Arm that it is compared with.
    """

    library: str
    kind: str
    settings: Mapping[str, Any]
    against: str | None = None


def theirs(kind: str, batch: int = BATCH) -> Arm:
    """RecTools' model: its defaults, but for sizes, batch, and the temperature that its HSTU guide sets."""
    arguments: dict[str, Any] = {
        "n_factors": WIDTH, "n_blocks": LAYERS, "n_heads": HEADS, "session_max_len": LENGTH,
        "dropout_rate": DROPOUT, "batch_size": batch, "lr": RATE, "loss": "softmax",
    }  # fmt: skip
    if kind == "hstu":
        arguments["lightning_module_kwargs"] = {"logits_t": TEMPERATURE}
    return Arm("rectools", kind, {"arguments": arguments, "epochs": EPOCHS, "patience": PATIENCE})


def ours(kind: str, windows: str) -> Arm:
    """The model of rota: its defaults, but for what is the same on both sides."""
    arguments: dict[str, Any] = {
        "embedding_dim": WIDTH, "num_layers": LAYERS, "num_heads": HEADS, "max_len": LENGTH,
        "dropout": DROPOUT,
    }  # fmt: skip
    if kind == "hstu":
        arguments |= {"slack": 0, "temperature": TEMPERATURE}
    training = {
        "epochs": EPOCHS, "patience": PATIENCE, "batch_size": BATCH, "learning_rate": RATE,
        "weight_decay": 0.0,
    }  # fmt: skip
    access = "request" if kind == "hstu" else "none"
    settings = {"arguments": arguments, "training": training, "windows": windows, "time_access": access}
    return Arm("rota", kind, settings, f"rectools {kind}")


ARMS = {
    f"{name}": arm
    for kind in ("sasrec", "hstu")
    for name, arm in {
        f"rectools {kind}": theirs(kind),
        f"rota {kind} newest": ours(kind, "newest"),
        f"rota {kind} all": ours(kind, "all"),
        f"rectools {kind} batch 128": theirs(kind, 128),
    }.items()
}
