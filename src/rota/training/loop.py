"""The loop: Lightning trains, validation selects the epoch, the best weights are what remains."""

import logging
import math
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import Checkpoint, EarlyStopping
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.utils.data import DataLoader

from rota.errors import InputError
from rota.models.transformer import TransformerNetwork
from rota.tables import Recipe
from rota.training.losses.sampled_softmax import SampledSoftmax
from rota.training.seeds import Purpose, stream_seed
from rota.training.windows import EpochOrder, TrainingBatch, TrainingWindows

_SCORE = "validation"
_ACCELERATORS = {"cpu": "cpu", "cuda": "gpu"}
PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")


@dataclass(frozen=True)
class Training(Recipe):
    """How a network is trained.

    Attributes:
        epochs: At most so many passes over the targets.
        batch_size: Windows of a step.
        learning_rate: Of AdamW.
        weight_decay: Of matrices; vectors, embeddings and what encodings learn have none.
        patience: Epochs without a better validation score before it stops.
        loss: Over the catalogue.
    """

    epochs: int = 8
    batch_size: int = 24
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    patience: int = 3
    loss: SampledSoftmax = field(default_factory=SampledSoftmax)

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "patience"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: expected at least 1")
        if not 0 < self.learning_rate < math.inf:
            raise InputError(f"learning_rate {self.learning_rate}: expected a finite number above 0")
        if not 0 <= self.weight_decay < math.inf:
            raise InputError(f"weight_decay {self.weight_decay}: expected a finite number, 0 or above")


@dataclass(frozen=True)
class Progress:
    """Where training is, after a step.

    Attributes:
        epoch: From 0.
        step: Steps done in this epoch.
        steps: Steps of an epoch.
        loss: Of the step; read it rarely, it may wait for the device.
        validation: Scores of the epochs done, in order.
    """

    epoch: int
    step: int
    steps: int
    loss: Tensor
    validation: tuple[float, ...]


@dataclass(frozen=True)
class Fitted:
    """What training left.

    Attributes:
        validation: Score of each epoch, larger is better.
        best_epoch: The epoch whose weights the network holds now, from 0.
    """

    validation: tuple[float, ...]
    best_epoch: int


def fit(
    network: TransformerNetwork,
    windows: TrainingWindows,
    training: Training,
    *,
    seed: int,
    validate: Callable[[], float],
    keep: Callable[[], None],
    report: Callable[[Progress], None],
    device: str = "cpu",
    precision: str = "32-true",
) -> Fitted:
    """Train a network in place and leave it with the weights of its best epoch.

    Args:
        network: With its starting weights.
        windows: Of the training stage.
        training: How.
        seed: Orders, negatives and dropout are functions of it, the epoch and the step.
        validate: Score of the network as it is, larger is better; called after each epoch.
        keep: Saves the network as it is; called after each epoch that is the best so far.
        report: Called after each step.
        device: ``"cpu"`` or ``"cuda"``.
        precision: One of Lightning's: 32-true, bf16-mixed, 16-mixed (on cuda).

    Raises:
        InputError: Unknown precision, one that the device lacks, or a device that is not there.
    """
    check_hardware(device, precision)
    order = EpochOrder(windows.lengths, training.batch_size, seed)
    loader: DataLoader[int] = DataLoader(windows, batch_sampler=order, collate_fn=windows.collate)
    lesson, best = _Lesson(network, training, seed, validate), _KeepBest(network, keep)
    with torch.random.fork_rng(), _quiet(), _interruptible():
        trainer = Trainer(
            accelerator=_ACCELERATORS[device],
            devices=1,
            precision=precision,  # type: ignore[arg-type]
            max_epochs=training.epochs,
            callbacks=[EarlyStopping(_SCORE, patience=training.patience, mode="max"), best, _Report(report)],
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        trainer.fit(lesson, loader)
    network.load_state_dict(best.state)
    network.to(device).eval()
    return Fitted(tuple(lesson.validation), best.epoch)


class _Lesson(LightningModule):
    """One step of learning, and the validation after each epoch."""

    def __init__(
        self, network: TransformerNetwork, training: Training, seed: int, validate: Callable[[], float]
    ) -> None:
        super().__init__()
        self.network, self.training_recipe, self.seed, self.validate = network, training, seed, validate
        self.validation: list[float] = []

    def transfer_batch_to_device(
        self, batch: TrainingBatch, device: torch.device, dataloader_idx: int
    ) -> TrainingBatch:
        return TrainingBatch(batch.batch.to(device), batch.targets.to(device, non_blocking=True))

    def training_step(self, batch: TrainingBatch, batch_idx: int) -> Tensor:
        step = partial(stream_seed, self.seed)
        torch.manual_seed(step(Purpose.DROPOUT, self.current_epoch, batch_idx))
        negatives = torch.Generator().manual_seed(step(Purpose.NEGATIVES, self.current_epoch, batch_idx))
        mask = batch.batch.mask
        features = self.network(batch.batch)[mask]
        return self.training_recipe.loss(features, batch.targets[mask], self.network.items.weight, negatives)

    def on_train_epoch_end(self) -> None:
        self.validation.append(self.validate())
        self.log(_SCORE, self.validation[-1])

    def configure_optimizers(self) -> Optimizer:
        recipe = self.training_recipe
        decayed = {id(module.weight) for module in self.network.modules() if isinstance(module, nn.Linear)}
        parameters = list(self.network.parameters())
        groups = [
            {"params": [p for p in parameters if id(p) in decayed], "weight_decay": recipe.weight_decay},
            {"params": [p for p in parameters if id(p) not in decayed], "weight_decay": 0.0},
        ]
        return AdamW(groups, lr=recipe.learning_rate, fused=True)


class _KeepBest(Checkpoint):
    """Holds the weights of the best epoch; a `Checkpoint`, so that it runs after the epoch's validation."""

    def __init__(self, network: TransformerNetwork, keep: Callable[[], None]) -> None:
        self.network, self.keep = network, keep
        self.score, self.epoch = -float("inf"), -1
        self.state: dict[str, Tensor] = {}

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        score = float(trainer.callback_metrics[_SCORE])
        if score > self.score:
            self.score, self.epoch = score, trainer.current_epoch
            self.state = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
            self.keep()


class _Report(Callback):
    """Tells the caller where training is."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self.report = report

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, _Lesson)
        assert isinstance(outputs, dict)
        steps = int(trainer.num_training_batches)
        done = tuple(pl_module.validation)
        self.report(Progress(trainer.current_epoch, batch_idx + 1, steps, outputs["loss"], done))


def check_hardware(device: str, precision: str) -> None:
    """Refuse what cannot be trained on, before any work.

    Raises:
        InputError: Unknown precision or device, a device that is not there, or one without the precision.
    """
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}: expected one of {', '.join(PRECISIONS)}")
    if device not in _ACCELERATORS:
        raise InputError(f"device {device!r}: expected cpu or cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda: this machine has no CUDA device that torch can use; use --device cpu")
    if precision == "16-mixed" and device == "cpu":
        raise InputError("precision 16-mixed: a CPU has none; use bf16-mixed or 32-true, or --device cuda")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt: Lightning leaves Python instead, and deaf to the next Ctrl-C."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit as left:
        if not isinstance(left.__context__, KeyboardInterrupt):
            raise
        signal.signal(signal.SIGINT, handler)
        raise KeyboardInterrupt from None


class _quiet(warnings.catch_warnings):  # noqa: N801 - reads as a statement
    """Silences what Lightning says about choices that are made here on purpose."""

    def __enter__(self) -> None:
        super().__enter__()
        for name in ("lightning.pytorch", "lightning.fabric"):
            logging.getLogger(name).setLevel(logging.WARNING)
        for said in (
            ".*does not have many workers.*",  # batches are cut from arrays in memory
            ".*GPU available but not used.*",  # the caller chose the device
            ".*smaller than the logging interval.*",  # there is no logger
            ".*LeafSpec.*is deprecated.*",  # Lightning's own affair
        ):
            warnings.filterwarnings("ignore", said)
