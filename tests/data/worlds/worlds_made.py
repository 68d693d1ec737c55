"""Worlds as numpy arrays, for tests."""

from typing import Any

import numpy as np
import pyarrow as pa

from rota.data.worlds import World

Columns = dict[str, np.ndarray[Any, np.dtype[Any]]]


def made(world: World, rows: int = 65_536) -> Columns:
    """All columns; words as objects."""
    table = pa.Table.from_batches(world.batches(rows))
    return {
        name: np.array(table[name].to_pylist())
        if pa.types.is_dictionary(table[name].type)
        else table[name].to_numpy()
        for name in table.column_names
    }


def pairs(columns: Columns, longest: int) -> Columns:
    """Every ordered pair of one user's events up to ``longest`` seconds apart: lag, same, chance of same."""
    lags, same, chance = [], [], []
    for user in np.unique(columns["user"]):
        own = columns["user"] == user
        time, item = columns["time"][own], columns["item"][own]
        counts = np.unique(item, return_counts=True)[1]
        lag = time[:, None] - time
        near = (lag > 0) & (lag <= longest)
        lags.append(lag[near])
        same.append((item[:, None] == item)[near])
        share = (counts * (counts - 1)).sum() / max(len(item) * (len(item) - 1), 1)
        chance.append(np.full(near.sum(), share))
    return {
        "lag": np.concatenate(lags),
        "same": np.concatenate(same),
        "chance": np.concatenate(chance),
    }


def lift(found: Columns, lag: float, width: float) -> float:
    """How often pairs about so far apart are one item, over how often they would be by chance."""
    near = np.abs(found["lag"] - lag) <= width
    return float(found["same"][near].sum() / found["chance"][near].sum())


def concentration(seconds: np.ndarray[Any, np.dtype[Any]], period: float) -> float:
    """Length of the mean of unit vectors: 1 where all are at one place of the period, near 0 where at any."""
    return float(abs(np.exp(2j * np.pi * (seconds % period) / period).mean()))
