"""What biases, inputs and interval attention cost by count: parameters and arithmetic of a token."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from rota.attention.interval_attention import IntervalAttention
from rota.attention.intervals import Intervals
from rota.encodings.bias import BiasRecipe
from rota.encodings.inputs import InputRecipe
from rota.errors import InputError
from rota.recipes.arithmetic import Arithmetic
from rota.recipes.encoding_costs import LENGTH, EncodingCost, cost_of, row_of_times
from rota.rooms import find, offers
from rota.tables import Recipe

__all__ = ["count_addition", "every_addition"]


def every_addition() -> dict[str, Recipe]:
    """Each bias and input with its defaults, and interval attention, by the name of its file."""
    found: dict[str, Recipe] = {}
    for kind in (BiasRecipe, InputRecipe):
        for name in offers("encodings", kind):
            made: type[Recipe] = find("encodings", name, kind)
            found[name] = made()
    return {**found, "intervals": Intervals()}


def count_addition(recipe: Recipe, *, head_dim: int = 64, num_heads: int = 4) -> EncodingCost:
    """Count what it adds to one row of 200 events, and divide by its tokens.

    Of a bias: in one layer, to the logits of a token with all 200 events of its row, the adding counted. Of
    an input: once for a network, to the embedding of an event, the adding counted. Of interval attention: in
    one layer, what it does more than the same attention without intervals and positions, all pairs at once;
    its vectors are those of the whole network.

    Args:
        recipe: Of a bias, of an input, or of interval attention.
        head_dim: Features of a head.
        num_heads: Heads; an embedding has the features of them all.

    Raises:
        InputError: It is another recipe.
    """
    width = head_dim * num_heads
    if isinstance(recipe, BiasRecipe):
        return _of_bias(recipe, num_heads)
    if isinstance(recipe, InputRecipe):
        return _of_input(recipe, width)
    if isinstance(recipe, Intervals):
        return _of_intervals(recipe, width, num_heads)
    raise InputError(
        f"cost of {type(recipe).__name__}: expected a bias, an input or intervals; rotations are counted by "
        "count_encoding"
    )


def _of_bias(recipe: BiasRecipe, num_heads: int) -> EncodingCost:
    module, time = recipe.build(max_len=LENGTH, num_heads=num_heads), row_of_times()
    logits = torch.zeros(1, num_heads, LENGTH, LENGTH)
    return cost_of(module, [logits], lambda given: [given + module(time, time)])


def _of_input(recipe: InputRecipe, width: int) -> EncodingCost:
    module, time = recipe.build(width), row_of_times()
    return cost_of(module, [torch.zeros(1, LENGTH, width)], lambda given: [given + module(time, time)])


def _of_intervals(recipe: Intervals, width: int, num_heads: int) -> EncodingCost:
    tables, time = recipe.tables(width, max_len=LENGTH), row_of_times()
    attention = IntervalAttention(width, num_heads, block=LENGTH).requires_grad_(False)
    given = [torch.zeros(1, LENGTH, width)] * 2

    def attend(queries: Tensor, events: Tensor) -> Sequence[Tensor]:
        return [attention(queries, events, tables(LENGTH), time, time)]

    def attend_plainly(queries: Tensor, events: Tensor) -> Sequence[Tensor]:
        return [_attend_plainly(attention, queries, events)]

    return _more(cost_of(tables, given, attend), cost_of(torch.nn.Module(), given, attend_plainly))


def _attend_plainly(attention: IntervalAttention, queries: Tensor, events: Tensor) -> Tensor:
    """The same causal attention without vectors of intervals and positions."""
    q, k, v = (
        layer(x).unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)
        for layer, x in ((attention.query, queries), (attention.key, events), (attention.value, events))
    )
    place = torch.arange(q.shape[2])
    logits = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(place > place[:, None], -math.inf)
    merged: Tensor = (logits.softmax(-1) @ v).transpose(1, 2).flatten(2)
    return merged


def _more(all_of_it: EncodingCost, plain: EncodingCost) -> EncodingCost:
    forward, features = (
        Arithmetic(mine.operations - other.operations, mine.cosines - other.cosines)
        for mine, other in ((all_of_it.forward, plain.forward), (all_of_it.features, plain.features))
    )
    return EncodingCost(all_of_it.parameters, forward, features, all_of_it.learned - plain.learned)
