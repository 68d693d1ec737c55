"""One file over HTTP, by a server that breaks off, ignores ranges, or changes the file meanwhile."""

import socket
from pathlib import Path

import pytest
from shop import Shop

from rota.data.downloads.transfer import UnreachableError, transfer
from rota.errors import InputError

CONTENT = bytes(range(256)) * 40


def size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def get(shop: Shop, part: Path) -> list[tuple[int, int | None]]:
    told: list[tuple[int, int | None]] = []
    transfer(shop.url, part, lambda done, total: told.append((done, total)))
    return told


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "file.part"


def test_a_file_in_one_go(part: Path) -> None:
    with Shop(CONTENT).open() as shop:
        told = get(shop, part)
    assert part.read_bytes() == CONTENT
    assert (told[0], told[-1]) == ((0, len(CONTENT)), (len(CONTENT), len(CONTENT)))
    assert shop.asked == [None]


@pytest.mark.parametrize("names", [{}, {"tag": "", "modified": "Wed, 21 Oct 2015 07:28:00 GMT"}])
def test_what_breaks_off_is_continued(part: Path, names: dict[str, str]) -> None:
    with Shop(CONTENT, cuts=[3000, 2000, 1], **names).open() as shop:
        told = get(shop, part)
    assert part.read_bytes() == CONTENT
    assert shop.asked == [None, "bytes=3000-", "bytes=5000-", "bytes=5001-"]
    assert all(total == len(CONTENT) for _, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_later_run_continues_what_an_earlier_one_left(part: Path) -> None:
    with Shop(CONTENT, cuts=[3000, 0]).open() as shop:
        with pytest.raises(UnreachableError, match="broke off after 3000 of 10240 bytes"):
            get(shop, part)
        assert size(part) == 3000
        get(shop, part)
    assert part.read_bytes() == CONTENT
    assert shop.asked == [None, "bytes=3000-", "bytes=3000-"]


def test_a_server_that_ignores_ranges_sends_all_of_it_again(part: Path) -> None:
    with Shop(CONTENT, cuts=[3000], ranges=False).open() as shop:
        get(shop, part)
    assert part.read_bytes() == CONTENT
    assert shop.asked == [None, "bytes=3000-"]


def test_tries_end_where_nothing_more_comes(part: Path) -> None:
    with Shop(CONTENT, cuts=[3000] * 50, ranges=False).open() as shop, pytest.raises(UnreachableError):
        get(shop, part)
    assert len(shop.asked) == 2
    with Shop(CONTENT, cuts=[1] * 50).open() as shop, pytest.raises(UnreachableError):
        get(shop, part)
    assert len(shop.asked) == 20


def test_two_versions_are_never_mixed(part: Path) -> None:
    newer = bytes(reversed(CONTENT))
    with Shop(CONTENT, cuts=[3000, 0]).open() as shop:
        with pytest.raises(UnreachableError):
            get(shop, part)
        shop.content, shop.tag = newer, '"two"'
        get(shop, part)
    assert part.read_bytes() == newer


@pytest.mark.parametrize("tag", ["", 'W/"weak"'])
def test_without_a_name_for_the_version_nothing_is_continued(part: Path, tag: str) -> None:
    with Shop(CONTENT, cuts=[3000], tag=tag).open() as shop:
        get(shop, part)
    assert part.read_bytes() == CONTENT
    assert shop.asked == [None, None]


def test_bytes_that_were_not_asked_for_are_not_appended(part: Path) -> None:
    with Shop(CONTENT, cuts=[3000], shift=8).open() as shop:
        get(shop, part)
    assert part.read_bytes() == CONTENT
    assert shop.asked == [None, "bytes=3000-", None]


def test_a_part_that_was_complete_is_taken_as_it_is(part: Path) -> None:
    part.write_bytes(CONTENT)
    part.with_name("file.part.tag").write_text('"one"')
    with Shop(CONTENT).open() as shop:
        assert get(shop, part) == [(len(CONTENT), len(CONTENT))]
    assert shop.asked == [f"bytes={len(CONTENT)}-"]


def test_a_part_longer_than_the_file_is_fetched_anew(part: Path) -> None:
    part.write_bytes(CONTENT + b"more")
    part.with_name("file.part.tag").write_text('"one"')
    with Shop(CONTENT).open() as shop:
        get(shop, part)
    assert part.read_bytes() == CONTENT


def test_a_length_that_is_not_told(part: Path) -> None:
    with Shop(CONTENT, sized=False).open() as shop:
        told = get(shop, part)
    assert part.read_bytes() == CONTENT
    assert {total for _, total in told} == {None}


def test_refusals(part: Path) -> None:
    with (
        Shop(CONTENT, status=404).open() as shop,
        pytest.raises(UnreachableError, match="HTTP 404 Not Found"),
    ):
        get(shop, part)
    assert not part.exists()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/"
    with pytest.raises(UnreachableError, match="refused"):
        transfer(nobody, part, lambda done, total: None)


def test_a_part_that_cannot_be_written(part: Path) -> None:
    part.mkdir()
    with Shop(CONTENT).open() as shop, pytest.raises(InputError, match=r"cannot be written: .*ROTA_CACHE"):
        get(shop, part)
