"""Hardware: what can be trained on, and how precisely."""

import torch
from torch.amp import GradScaler

from rota.errors import InputError

__all__: list[str] = []

DEVICES = ("cpu", "cuda")
_LOWER = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
PRECISIONS = ("32-true", *_LOWER)


def check_hardware(device: str, precision: str) -> None:
    """Refuse what cannot be trained on, before any work.

    Raises:
        InputError: Unknown precision or device, a device that is not there, or one without the precision.
    """
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}: expected one of {', '.join(PRECISIONS)}")
    if device not in DEVICES:
        raise InputError(f"device {device!r}: expected cpu or cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda: this machine has no CUDA device that torch can use; use --device cpu")
    if precision == "16-mixed" and device == "cpu":
        raise InputError("precision 16-mixed: a CPU has none; use bf16-mixed or 32-true, or --device cuda")


def lowered_precision(device: str, precision: str) -> torch.autocast:
    """Context in which a step computes its loss."""
    lower = _LOWER.get(precision)
    return torch.autocast(device, dtype=lower, enabled=lower is not None)


def loss_scaler(device: str, precision: str) -> GradScaler:
    """What keeps gradients within float16, where that is the precision; else it does nothing."""
    return GradScaler(device, enabled=precision == "16-mixed")
