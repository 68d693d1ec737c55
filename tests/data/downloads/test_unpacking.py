"""One member of a zip archive, unpacked once."""

import zipfile
from pathlib import Path

import pytest

from rota.data.downloads.unpacking import unpacked
from rota.errors import InputError


def archive(folder: Path, **members: str) -> Path:
    path = folder / "town.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as content:
        for name, text in members.items():
            content.writestr(name.replace("__", "/"), text)
    return path


def test_a_member_is_unpacked_once(tmp_path: Path) -> None:
    path = archive(tmp_path, town__ratings="one", town__README="read")
    member = unpacked(path, "md5:0123456789abcdef0123", "ratings")
    assert (member.name, member.read_text()) == ("0123456789abcdef-ratings", "one")
    stamp = member.stat().st_mtime_ns
    assert unpacked(path, "md5:0123456789abcdef0123", "ratings").stat().st_mtime_ns == stamp
    assert {p.name for p in tmp_path.iterdir()} == {"town.zip", "0123456789abcdef-ratings"}


def test_another_archive_is_unpacked_anew_and_so_is_what_is_incomplete(tmp_path: Path) -> None:
    first = unpacked(archive(tmp_path, ratings="one"), "md5:a", "ratings")
    second = unpacked(archive(tmp_path, ratings="two"), "md5:b", "ratings")
    assert (first.read_text(), second.read_text()) == ("one", "two")
    second.write_text("t")
    assert unpacked(tmp_path / "town.zip", "md5:b", "ratings").read_text() == "two"


def test_archives_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one file ratings in it; it has a/other"):
        unpacked(archive(tmp_path, a__other="x"), "md5:a", "ratings")
    with pytest.raises(InputError, match="expected one file ratings"):
        unpacked(archive(tmp_path, a__ratings="x", b__ratings="x"), "md5:a", "ratings")
    path = archive(tmp_path, ratings="x" * 1000)
    damaged = bytearray(path.read_bytes())
    damaged[40] ^= 255
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"town\.zip: cannot be unpacked: .*get it anew"):
        unpacked(path, "md5:c", "ratings")
    assert not list(tmp_path.glob("*-ratings"))
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpacked(path, "md5:c", "ratings")
