"""Divergence: a loss that is no number ends the training, and the step where it first was is named."""

import torch
from torch import Tensor

from rota.errors import InputError
from rota.models.base import Network
from rota.training.processes import Processes
from rota.training.progress import Fitted
from rota.training.sharding import share

__all__ = ["DivergedError"]

_STEPS = 50  # between looks at a device that would have to be waited for


class DivergedError(InputError):
    """A training whose loss or weights are no finite numbers any more.

    Attributes:
        epoch: When, from 0.
        step: In that epoch, from 0.
        fitted: The epochs done before, and the best of them; ``None`` where there is none.
    """

    def __init__(self, what: str, epoch: int, step: int) -> None:
        super().__init__(
            f"the training has diverged: {what} in epoch {epoch + 1}, step {step + 1}: expected finite "
            "numbers; lower its learning rate"
        )
        self.epoch, self.step = epoch, step
        self.fitted: Fitted | None = None

    def told(self, where: str | None = None) -> InputError:
        """The error as a person is told of it.

        Args:
            where: Where the best model so far is kept, if anywhere.
        """
        good = "no epoch was done, so there is no checkpoint"
        if self.fitted is not None:
            best = self.fitted.best_epoch
            score = self.fitted.validation[best]
            kept = f"is in {where}" if where else "was not written anywhere (no folder was given)"
            good = f"the last good checkpoint, epoch {best + 1} (validation {score:.3f}), {kept}"
        return InputError(f"{self}; {good}")


class LossGuard:
    """Looks at every loss, and on a GPU only now and then at what it saw: reading waits for the device."""

    def __init__(self, network: Network, processes: Processes | None = None) -> None:
        self.network, self.processes, self.steps = network, processes or Processes(), 0
        self.bad: Tensor | None = None  # on the device: first bad step of the epoch, and its loss

    def watch(self, loss: Tensor, epoch: int, step: int) -> None:
        """Take the loss of a step.

        Args:
            loss: A scalar.
            epoch: From 0.
            step: In the epoch, from 0.

        Raises:
            DivergedError: It, or on a GPU that of one of the last steps, is no finite number.
        """
        loss = loss.detach().double()
        found = torch.stack((torch.where(loss.isfinite(), -1.0, float(step)), loss))
        self.bad = found if step == 0 or self.bad is None else torch.where(self.bad[0] < 0, found, self.bad)
        self.steps = step + 1
        if loss.device.type == "cpu" or self.steps % _STEPS == 0:
            self._require_finite(epoch)

    def require_sound(self, epoch: int) -> None:
        """Look at all losses of the epoch, and at the weights that the last step left.

        Raises:
            DivergedError: One is no finite number.
        """
        self._require_finite(epoch)
        sound = [share(parameter.detach()).isfinite().all() for parameter in self.network.parameters()]
        unsound = (~torch.stack(sound).all()).float()
        self.processes.add_up([unsound])  # each may hold a share of the weights only
        if unsound:
            raise DivergedError("weights are not finite after the last step", epoch, self.steps - 1)

    def _require_finite(self, epoch: int) -> None:
        if self.bad is None:
            return
        step, loss = self.bad.tolist()
        if step >= 0:
            raise DivergedError(f"the loss is {loss}", epoch, int(step))
