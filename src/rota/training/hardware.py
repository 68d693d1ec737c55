"""Hardware: what can be trained on, and how precisely."""

import torch

from rota.errors import InputError

__all__: list[str] = []

ACCELERATORS = {"cpu": "cpu", "cuda": "gpu"}
PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")


def check_hardware(device: str, precision: str) -> None:
    """Refuse what cannot be trained on, before any work.

    Raises:
        InputError: Unknown precision or device, a device that is not there, or one without the precision.
    """
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}: expected one of {', '.join(PRECISIONS)}")
    if device not in ACCELERATORS:
        raise InputError(f"device {device!r}: expected cpu or cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda: this machine has no CUDA device that torch can use; use --device cpu")
    if precision == "16-mixed" and device == "cpu":
        raise InputError("precision 16-mixed: a CPU has none; use bf16-mixed or 32-true, or --device cuda")
