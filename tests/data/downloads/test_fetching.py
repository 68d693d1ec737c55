"""Published files from the cache: complete and verified, or not there."""

import hashlib
import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from shop import Shop

from rota.data.downloads.fetching import fetch
from rota.data.downloads.remote import Remote, cache_folder
from rota.errors import InputError

CONTENT = b"PK" + bytes(range(256)) * 40
OTHER = b"PK another version"
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
SHA = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
PAGE = "https://example.org/data"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROTA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def remote(url: str | None, checksum: str | None) -> Remote:
    return Remote("town/town.zip", PAGE, url, checksum, b"PK")


def put(file: Remote, content: bytes) -> Path:
    file.path.parent.mkdir(parents=True, exist_ok=True)
    file.path.write_bytes(content)
    return file.path


def refused(file: Remote, *parts: str) -> None:
    with pytest.raises(InputError) as caught:
        fetch(file)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message, message


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    assert remote(None, None).path == cache / "town" / "town.zip"
    monkeypatch.setenv("ROTA_CACHE", "~/mine")
    assert cache_folder() == Path.home() / "mine"
    monkeypatch.setenv("ROTA_CACHE", "here")
    assert cache_folder() == Path.cwd() / "here"
    monkeypatch.delenv("ROTA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert cache_folder() == cache / "rota"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == Path.home() / ".cache" / "rota"


def test_a_file_is_fetched_once_and_verified(cache: Path) -> None:
    with Shop(CONTENT, cuts=[3000]).open() as shop:
        told: list[int] = []
        file = remote(shop.url, MD5)
        assert fetch(file, lambda done, total: told.append(done)) == (file.path, MD5)
        assert (told[0], told[-1]) == (0, len(CONTENT))
        assert fetch(file) == (file.path, MD5)
    assert len(shop.asked) == 2  # the second was the continuation
    assert file.path.read_bytes() == CONTENT
    assert {path.name for path in file.path.parent.iterdir()} <= {"town.zip", "town.zip.lock"}


def test_a_wrong_checksum(cache: Path) -> None:
    with Shop(OTHER).open() as shop:
        refused(remote(shop.url, MD5), "md5:", MD5, "town.zip", "delete it", PAGE)
        assert not remote(shop.url, MD5).path.exists()
        shop.content = CONTENT
        fetch(remote(shop.url, MD5))  # the wrong part was not continued
    assert shop.asked == [None, None]
    path = put(remote(None, MD5), OTHER)
    refused(remote(None, MD5), str(path), MD5, "delete it")
    assert path.read_bytes() == OTHER  # a person's file is for the person to delete


def test_a_page_in_place_of_the_file(cache: Path) -> None:
    with Shop(b"<!DOCTYPE html>").open() as shop:
        refused(remote(shop.url, None), "is not the file", "<!", PAGE)
    assert not remote(None, None).path.exists()
    with Shop(CONTENT).open() as shop:
        fetch(remote(shop.url, None))  # what was refused is not what is trusted


def test_the_first_copy_is_trusted_and_a_later_one_must_equal_it(cache: Path) -> None:
    file = remote(None, None)
    path, record = put(file, CONTENT), cache / "town" / "town.zip.first"
    assert fetch(file) == (path, SHA)
    assert record.read_text() == f"{SHA}\n"
    put(file, OTHER)
    refused(file, str(path), SHA, str(record), "delete")
    path.unlink()
    with Shop(OTHER).open() as shop:
        refused(remote(shop.url, None), SHA, "delete")
        record.unlink()
        fetch(remote(shop.url, None))
    assert record.read_text() == f"sha256:{hashlib.sha256(OTHER).hexdigest()}\n"


def test_without_a_network_the_error_says_where_to_put_the_file(cache: Path) -> None:
    nowhere = "http://nowhere.invalid/town.zip"
    path = str(cache / "town" / "town.zip")
    refused(remote(nowhere, MD5), nowhere, "cannot be had", PAGE, f"put it at {path}", "verified", MD5)
    refused(remote(nowhere, None), f"put it at {path}", "SHA-256 recorded")
    refused(remote(None, None), "no program can fetch it", PAGE, f"put it at {path}")
    put(remote(nowhere, MD5), CONTENT)
    assert fetch(remote(nowhere, MD5)) == (Path(path), MD5)


def test_what_broke_off_is_kept_for_the_next_run(cache: Path) -> None:
    with Shop(CONTENT, cuts=[3000, 0]).open() as shop:
        refused(remote(shop.url, MD5), "broke off", "what has come is kept")
        fetch(remote(shop.url, MD5))
    assert shop.asked[-1] == "bytes=3000-"


def test_a_cache_that_cannot_be_written(cache: Path) -> None:
    cache.write_text("a file where a folder should be")
    refused(remote("http://nowhere.invalid/", None), str(cache), "ROTA_CACHE")


def _fetch_together(url: str, barrier: Barrier) -> None:
    barrier.wait(60)
    fetch(remote(url, MD5))


def test_several_processes_at_once_fetch_it_once(cache: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(3)
    with Shop(CONTENT, cuts=[3000]).open() as shop:
        given = {"target": _fetch_together, "args": (shop.url, barrier), "daemon": True}
        workers = [context.Process(**given) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert shop.asked == [None, "bytes=3000-"]
    assert remote(None, None).path.read_bytes() == CONTENT
