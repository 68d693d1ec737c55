"""A small network of time that is as exact as its inputs: float64, whatever the model is cast to."""

import math
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor, nn

__all__: list[str] = []


class Sine(nn.Module):
    """``sin(omega x)``, the activation of a SIREN (Sitzmann et al. 2020)."""

    def __init__(self, omega: float) -> None:
        super().__init__()
        self.omega = omega

    def forward(self, x: Tensor) -> Tensor:
        """Of any shape."""
        return torch.sin(self.omega * x)


class Perceptron(nn.Module):
    """Two hidden layers and a linear one, in float64, whose weights are drawn from a stream of their own."""

    def __init__(
        self, sizes: tuple[int, int, int, int], activation: nn.Module, reach: float, rng: np.random.Generator
    ) -> None:
        """Draw weights and biases.

        Args:
            sizes: Inputs, both hidden layers, outputs.
            activation: After the hidden layers.
            reach: Weights of the later layers are uniform within ``sqrt(reach / inputs)``; those of the
                first, and all biases, within ``1 / inputs`` and ``1 / sqrt(inputs)``.
            rng: Where they are drawn from.
        """
        super().__init__()
        self.activation = activation
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for inputs, outputs in pairwise(sizes):
            bound = math.sqrt(reach / inputs) if len(self.weights) else 1 / inputs
            self.weights.append(nn.Parameter(torch.from_numpy(rng.uniform(-bound, bound, (outputs, inputs)))))
            self.biases.append(
                nn.Parameter(torch.from_numpy(rng.uniform(-1, 1, outputs) / math.sqrt(inputs)))
            )

    def forward(self, x: Float64[Tensor, "*shape inputs"]) -> Float64[Tensor, "*shape outputs"]:
        """Values of the network."""
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weight, bias in hidden:
            x = self.activation(nn.functional.linear(x, weight, bias))
        return nn.functional.linear(x, *last)
