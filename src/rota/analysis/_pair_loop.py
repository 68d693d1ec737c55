"""The loop over pairs that numba compiles; import this file only where numba is."""

import importlib
import inspect
from typing import Any

__all__: list[str] = []

numba: Any = importlib.import_module("numba")


def _add_pairs(times, labels, offsets, group, chance, width, same, pairs, expected, thread, threads):  # type: ignore[no-untyped-def]
    """Add the pairs of the users whose groups are this thread's; see `pair_counts.count_pairs`."""
    bins = same.shape[1]
    reach = bins * width + (width - 1) // 2
    for user in range(len(group)):
        row = group[user]
        if row % threads != thread:
            continue
        first, likely = offsets[user], chance[user]
        for later in range(first + 1, offsets[user + 1]):
            now, label = times[later], labels[later]
            place, end = -1, width - width // 2  # from which gap on the next bin begins
            for earlier in range(later - 1, first - 1, -1):
                gap = now - times[earlier]
                if gap > reach:
                    break
                if gap >= end:  # gaps rise: a division only where the bin is another
                    place = (2 * gap + width) // (2 * width) - 1
                    end = (place + 2) * width - width // 2
                if place >= 0:
                    pairs[row, place] += 1
                    expected[row, place] += likely
                    same[row, place] += labels[earlier] == label


_plain = inspect.unwrap(_add_pairs)  # tests wrap what has shapes
try:
    add_pairs: Any = numba.njit(_plain, nogil=True, cache=True)
except (OSError, RuntimeError):  # no folder for what was compiled can be written
    add_pairs = numba.njit(_plain, nogil=True)
