"""Files written by hand, what is read from them, and what is said of those that cannot be."""

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from rota.data import Log, read_log
from rota.errors import InputError

HOUR = 3600
START = 1_600_000_000
NAMES = {"user": "who", "item": "what", "time": "when"}
HEADER = "who,what,when\n"
Event = tuple[object, object, int]


def events(log: Log) -> list[Event]:
    """Events in the log's order, with the ids as they were."""
    users, items = log.user_ids.to_pylist(), log.item_ids.to_pylist()
    codes = zip(log.users.tolist(), log.items.tolist(), log.times.tolist(), strict=True)
    return [(users[user], items[item], time) for user, item, time in codes]


def read(source: Any, **asked: Any) -> list[Event]:
    """Events of a source with our names."""
    return events(read_log(source, **(NAMES | asked)))


def refused(source: Any, *parts: str, **asked: Any) -> str:
    """Check that a source is refused in one line that holds some parts."""
    with pytest.raises(InputError) as caught:
        read_log(source, **(NAMES | asked))
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    for part in parts:
        assert part in message, message
    return message


def write_text(path: Path, text: str, encoding: str = "utf-8") -> Path:
    """Write a text as it is, zipped if its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.name.lower().endswith(".gz") else content)
    return path


def write_parquet(path: Path, **columns: Any) -> Path:
    """Write columns as a Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path)
    return path
