"""The loop: Lightning trains, validation selects the epoch, the best weights are what remains."""

from collections.abc import Callable

import torch
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import EarlyStopping
from torch.utils.data import DataLoader

from rota.models.base import Network
from rota.training.divergence import DivergedError
from rota.training.hardware import ACCELERATORS, check_hardware
from rota.training.lesson import SCORE, KeepBest, Lesson, Report
from rota.training.losses.mixing import require_likelihood
from rota.training.manners import interruptible, quiet
from rota.training.order import EpochOrder
from rota.training.progress import Fitted, Progress
from rota.training.recipe import Training
from rota.training.windows import TrainingWindows


def fit(
    network: Network,
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
    """Train a network in place and leave it with the weights of its best epoch, also where it diverges.

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
        InputError: Unknown precision, one that the device lacks, a device that is not there, or a loss that
            is no likelihood for a network with a repeat head.
        DivergedError: A loss or a weight is no finite number any more; it knows the best epoch so far.
    """
    check_hardware(device, precision)
    require_likelihood(training.loss, network.repeat_head is not None)
    order = EpochOrder(windows.lengths, training.batch_size, seed)
    loader: DataLoader[int] = DataLoader(windows, batch_sampler=order, collate_fn=windows.collate)
    lesson, best = Lesson(network, training, order, windows.counts, validate), KeepBest(network, keep)
    with torch.random.fork_rng(), quiet(), interruptible():
        trainer = Trainer(
            accelerator=ACCELERATORS[device],
            devices=1,
            precision=precision,  # type: ignore[arg-type]
            max_epochs=training.epochs,
            callbacks=[EarlyStopping(SCORE, patience=training.patience, mode="max"), best, Report(report)],
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        try:
            trainer.fit(lesson, loader)
        except DivergedError as error:
            if best.state:
                _keep_best(network, best, device)
                error.fitted = Fitted(tuple(lesson.validation), best.epoch)
            raise
    _keep_best(network, best, device)
    return Fitted(tuple(lesson.validation), best.epoch)


def _keep_best(network: Network, best: KeepBest, device: str) -> None:
    network.load_state_dict(best.state)
    network.to(device).eval()
