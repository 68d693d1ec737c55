"""What every source promises."""

from pathlib import Path
from typing import get_args

import ibis
import pytest

from rota.data.sources.base import Source
from rota.errors import InputError
from rota.rooms import find, names, offers
from rota.units import Unit

SOURCES = [name for name in names("data.sources") if name != "base"]


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest) -> Source:
    return find("data.sources", request.param, Source)()  # type: ignore[type-abstract]


def test_each_file_of_the_room_is_a_source() -> None:
    assert offers("data.sources", Source) == SOURCES
    assert len(SOURCES) >= 7


def test_a_source_knows_its_log(source: Source) -> None:
    assert source.name in SOURCES
    assert type(source).__module__.endswith(f".{source.name}")
    assert source.url.startswith("https://")
    assert len(source.licence) > 5
    assert len(source.citation) > 40
    assert source.unit is None or source.unit in get_args(Unit)


def test_a_file_has_an_address_or_is_brought_by_hand(source: Source) -> None:
    file = source.file
    if file is None:
        return
    assert file.page.startswith("https://")
    assert file.url is None or file.url.startswith("https://")
    assert file.begins
    if file.checksum is not None:
        algorithm, _, digest = file.checksum.partition(":")
        assert len(digest) == {"md5": 32, "sha256": 64}[algorithm]
        assert set(digest) <= set("0123456789abcdef")


def test_a_file_that_is_not_there_is_asked_for_by_its_path(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if source.file is None:
        return
    monkeypatch.setenv("ROTA_CACHE", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens: a machine without a network
    for ask in (source.download, lambda: source.table(ibis.duckdb.connect())):
        with pytest.raises(InputError) as caught:
            ask()
        message = str(caught.value)
        assert f"put it at {source.file.path}" in message
        assert source.file.page in message
        assert "\n" not in message
