"""Prepared datasets: what `read_log` reads, mapped from the disk; complete, or not there."""

import errno
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from rota.data import About, Log, Reading, Ties, load_dataset, prepare, read_log
from rota.data import dataset as module
from rota.data.filters import CollapseDuplicates, FirstInteraction, KCore, MinEvents, UserCap
from rota.errors import InputError

DAY = 86_400
START = 1_600_041_600
NAMES = {"user": "who", "item": "what", "time": "when"}
FILES = ["catalogue.arrow", "dataset.toml", "items.npy", "offsets.npy", "times.npy", "users.arrow"]


def table(rows: int = 400, **more: Any) -> pa.Table:
    """A log of 20 users and 7 items in good health, with ties."""
    k = np.arange(rows)
    columns = {
        "who": pa.array([f"u{user}" for user in k % 20]),
        "what": k * k % 7,
        "when": START + DAY * (k // 40) + 1801 * (k % 20),
    }
    return pa.table(columns | more)


def prepared(source: Any, out: Path, *filters: Any, **asked: Any) -> Log:
    return prepare(source, out, Reading(**(NAMES | asked)), filters=filters)


def refused(run: Callable[[], object], *parts: str) -> None:
    with pytest.raises(InputError) as caught:
        run()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message, message


def left(folder: Path) -> list[str]:
    """All files, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def same(one: Log, other: Log) -> None:
    """Check that two logs hold the same."""
    for name in ("items", "times", "offsets", "local"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        assert first is None or np.array_equal(first, second)
    assert one.user_ids.equals(other.user_ids)
    assert one.item_ids.equals(other.item_ids)
    assert one.fingerprint == other.fingerprint
    assert one.describe() == other.describe()


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({}, {}),
        ({}, {"zone": "Europe/Berlin"}),
        ({}, {"ties": "unordered"}),
        ({}, {"epoch": "unknown", "unit": "s"}),
        ({"at": ["Asia/Tokyo", "America/New_York"] * 200}, {"zone_column": "at"}),
        ({"east": [330, -60] * 200}, {"offset_column": "east"}),
        ({"n": list(range(400, 0, -1))}, {"order": "n"}),
        (
            {
                "when": pa.array(START * 10**9 + np.arange(400) * 10**12 + 7).cast(
                    pa.timestamp("ns", "Asia/Tokyo")
                )
            },
            {},
        ),
    ],
)
def test_a_round_trip(more: dict[str, Any], asked: dict[str, str], tmp_path: Path) -> None:
    log = prepared(table(**more), tmp_path / "deep" / "set", **asked)
    same(log, read_log(table(**more), **(NAMES | asked)))  # type: ignore[arg-type]
    same(log, load_dataset(str(tmp_path / "deep" / "set")))
    assert (log.local is not None) == bool(
        {"zone", "zone_column", "offset_column"} & set(asked) or more.get("when")
    )
    assert left(tmp_path / "deep") == ["set"]
    extra = [] if log.local is None else ["local.npy"]
    assert left(tmp_path / "deep" / "set") == sorted([*FILES, *extra])
    del log.__dict__["fingerprint"]
    object.__setattr__(log, "known_fingerprint", "")
    assert log.fingerprint == load_dataset(tmp_path / "deep" / "set").known_fingerprint  # of what is there


def test_nothing_is_read_until_it_is_used(tmp_path: Path) -> None:
    prepared(table(), tmp_path / "set", zone="Asia/Tokyo")
    log = load_dataset(tmp_path / "set")
    for name in ("items", "times", "offsets", "local"):
        array = getattr(log, name)
        assert isinstance(array, np.memmap)
        assert array.dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    before = pa.total_allocated_bytes()
    ids = load_dataset(tmp_path / "set").user_ids
    assert ids.type == pa.large_string()
    assert pa.total_allocated_bytes() == before  # text ids are mapped too


def test_the_table_says_what_was_done(tmp_path: Path) -> None:
    k = np.arange(400)
    users = pa.array([None if row % 100 == 99 else f"u{row % 20}" for row in k])
    asked = {"zone": "Europe/Berlin", "unit": "s", "ties": "unordered"}
    source = tmp_path / "log.parquet"
    parquet.write_table(table(who=users), source)
    log = prepared(source, tmp_path / "set", MinEvents(20), KCore(5, 60), **asked)
    held = tomllib.loads((tmp_path / "set" / "dataset.toml").read_text())
    steps = held.pop("steps")
    assert held == {
        "format": "rota dataset 1",
        "name": "log.parquet",
        "unit": "s",
        "unit_stated": True,
        "absolute": True,
        "known_epoch": True,
        "zone": "Europe/Berlin",
        "ties": "unordered",
        "rows": 400,
        "dropped": 4,
        "skipped": 0,
        "fingerprint": log.fingerprint,
        "local": True,
        "reading": {"recipe": "data.options", **NAMES, **asked, "epoch": "unix", "on_error": "stop"},
        "filters": [
            {"recipe": "data.filters.min_events", "least": 20},
            {"recipe": "data.filters.k_core", "users": 5, "items": 60},
        ],
    }
    assert [step["label"] for step in steps] == ["read", "min_events(least=20)", "k_core(users=5, items=60)"]
    assert [steps[0][name] for name in ("events", "users", "items")] == [396, 20, 4]
    counts = [[step[name] for name in ("events", "users", "items")] for step in steps]
    assert counts[1:] == [[380, 19, 4], [len(log), log.num_users, log.num_items]]
    assert log.about == About(
        "log.parquet",
        "s",
        zone="Europe/Berlin",
        ties=Ties.UNORDERED,
        rows=400,
        dropped=4,
        steps=log.about.steps,
    )


def test_the_order_of_rows_means_nothing_where_it_is_said_to(tmp_path: Path) -> None:
    shuffled = table().take(pa.array(np.random.default_rng(0).permutation(400)))
    prints = {
        prepared(source, tmp_path / f"{rule}{n}", **asked).fingerprint
        for n, source in enumerate((table(n=range(400)), shuffled.append_column("n", [range(400)])))
        for rule, asked in (("basket", {"ties": "unordered"}),)
    }
    assert len(prints) == 1
    numbered = table(n=range(400))
    mixed = numbered.take(pa.array(np.random.default_rng(1).permutation(400)))
    ordered = [
        prepared(source, tmp_path / f"order{n}", order="n") for n, source in enumerate((numbered, mixed))
    ]
    assert ordered[0].fingerprint == ordered[1].fingerprint
    assert ordered[0].fingerprint == prepared(table(), tmp_path / "rows").fingerprint != prints.pop()


def test_rows_are_told_apart_under_an_order_column_too(tmp_path: Path) -> None:
    """The column counts within each user, so its numbers repeat: filters must not mix those rows up."""
    per_user = table(n=[row // 20 for row in range(400)])
    filters = (CollapseDuplicates(), FirstInteraction(), UserCap(3))
    expected = prepared(table(), tmp_path / "rows", *filters)
    assert len(expected) == 60
    assert prepared(per_user, tmp_path / "order", *filters, order="n").fingerprint == expected.fingerprint


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    prepared(table(), tmp_path / "set")
    refused(lambda: prepared(table(440), tmp_path / "set"), f"{tmp_path / 'set'} exists", "never overwritten")
    assert len(load_dataset(tmp_path / "set")) == 400
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("empty", "link"):
        refused(lambda name=name: prepared(table(), tmp_path / name), "exists")  # type: ignore[misc]
    (tmp_path / "file").write_text("x")
    refused(lambda: prepared(table(), tmp_path / "file" / "set"), "cannot be written", "check the path")
    assert left(tmp_path) == ["empty", "file", "link", "set"]


def test_what_goes_wrong_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "set"
    refused(
        lambda: prepared(table(), out, KCore(500, 500)), "k_core(users=500, items=500) leaves nothing of 400"
    )
    refused(lambda: prepared(table(when=[START] * 400), out), "constant")
    refused(lambda: prepared(table(), out, zone="Mars/Olympus"), "unknown time zone 'Mars/Olympus'")
    at = ["Asia/Tokyo"] * 399 + ["Mars/Olympus"]
    refused(lambda: prepared(table(at=at), out, zone_column="at"), "column 'at', row 400: unknown time zone")

    for error in (ZeroDivisionError(), KeyboardInterrupt()):

        def report(label: str, done: int, total: int, error: BaseException = error) -> None:
            if done:
                raise error

        with pytest.raises(type(error)):
            prepare(table(), out, Reading(**NAMES), report=report)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module._Column, "append", full)
    refused(
        lambda: prepared(table(), out), f"{out}: cannot be written: No space left on device: free some space"
    )
    assert left(tmp_path) == []


_CHILD = """
import resource, signal, sys
from pathlib import Path
from rota.data import Reading, prepare
from rota.errors import InputError

def report(label, done, total):
    if done:
        print("writing", flush=True)
        sys.stdin.readline()

source, out, limit = sys.argv[1:]
if int(limit):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
try:
    prepare(source, out, Reading("who", "what", "when"), report=report)
except InputError as error:
    print(error)
"""


def child(source: Path, out: Path, limit: int = 0) -> subprocess.Popen[str]:
    """Another process that prepares, and waits in the middle for a line on its input."""
    command = [sys.executable, "-c", _CHILD, str(source), str(out), str(limit)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_folder_in_use_and_one_that_was_left(tmp_path: Path) -> None:
    source, out = tmp_path / "log.parquet", tmp_path / "sets" / "set"
    parquet.write_table(table(), source)
    with child(source, out) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "writing\n"
        refused(
            lambda: prepared(source, out), f"{out} is being made by another process", "choose another folder"
        )
        assert not out.exists()
        other.send_signal(signal.SIGKILL)
    half_made = set(left(out.parent))
    assert half_made == {".set.lock", ".set.part"}
    assert list((out.parent / ".set.part").iterdir())
    refused(lambda: load_dataset(out), "no prepared dataset")
    refused(lambda: load_dataset(out.parent / ".set.part"), "no prepared dataset")
    same(prepared(source, out), read_log(source, **NAMES))  # type: ignore[arg-type]
    assert left(out.parent) == ["set"]
    assert left(out) == FILES


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """Files of the process may not grow beyond a limit: arrays of 4 000 rows do."""
    source = tmp_path / "log.parquet"
    parquet.write_table(table(4000), source)
    with child(source, tmp_path / "set", limit=20_000) as other:
        said, _ = other.communicate("\n" * 9)
    assert f"{tmp_path / 'set'}: cannot be written: File too large: free some space" in said
    assert left(tmp_path) == ["log.parquet"]


def test_memory_and_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = {"who": rng.integers(0, 10**6, 200_000), "what": rng.integers(0, 10**6, 200_000)}
    big = pa.table(rows | {"when": START + rng.integers(0, 10**7, 200_000)})
    monkeypatch.setenv("ROTA_MEMORY", "3MB")
    refused(lambda: prepared(big, tmp_path / "set"), "more than the 3MB of memory", "ROTA_MEMORY=4GB")
    refused(lambda: read_log(big, **NAMES), "more than the 3MB of memory", "ROTA_MEMORY=4GB")  # type: ignore[arg-type]
    monkeypatch.setenv("ROTA_MEMORY", "much")
    refused(lambda: prepared(big, tmp_path / "set"), "ROTA_MEMORY is 'much'", "for instance ROTA_MEMORY=4GB")
    assert left(tmp_path) == []


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    prepared(table(), tmp_path / "set")
    return tmp_path / "set"


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(dataset: Path, name: str) -> None:
    (dataset / name).unlink()
    expected = "no prepared dataset" if name == "dataset.toml" else "damaged"
    refused(
        lambda: load_dataset(dataset),
        str(dataset),
        expected,
        "rota prepare" if name == "dataset.toml" else "again",
    )


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_cut_or_emptied(dataset: Path, name: str) -> None:
    for keep in (-60, 0):
        (dataset / name).write_bytes((dataset / name).read_bytes()[:keep])
        refused(lambda: load_dataset(dataset), str(dataset), "damaged", "prepare it again")


def test_arrays_that_are_no_log(dataset: Path) -> None:
    items = np.load(dataset / "items.npy")
    for other, said in (
        (items.astype(float), "items.npy holds float64"),
        (items.astype(">i8"), "items.npy holds"),
        (items.reshape(20, 20), "2 dimensions"),
        (items[:-1], "do not fit each other"),
    ):
        np.save(dataset / "items.npy", other)
        refused(lambda: load_dataset(dataset), str(dataset), said, "prepare it again")
    np.save(dataset / "items.npy", items)
    offsets = np.load(dataset / "offsets.npy")
    for wrong in (offsets[:-1], offsets + 1):
        np.save(dataset / "offsets.npy", wrong)
        refused(lambda: load_dataset(dataset), "do not fit each other")


def test_tables_that_are_none_of_ours(dataset: Path) -> None:
    about = dataset / "dataset.toml"
    good = about.read_text()
    for bad, said in (
        ("{", "damaged"),
        ("a = 1", "'format'"),
        (good.replace("dataset 1", "dataset 9"), "format 'rota dataset 9': expected 'rota dataset 1'"),
        (good.replace('unit = "s"', 'unit = "h"'), "time unit 'h'"),
        (good.replace('ties = "rows"', 'ties = "none"'), "'none'"),
        (good.replace("steps", "stages"), "'steps'"),
        (good.replace("local = false", "local = true"), "local.npy"),
    ):
        assert bad != good
        about.write_text(bad)
        refused(lambda: load_dataset(dataset), str(dataset), said)
    about.write_text(good)
    assert len(load_dataset(dataset)) == 400
