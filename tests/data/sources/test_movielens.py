"""MovieLens 1M and 20M: hand-made lines in the layouts of their READMEs."""

import ibis
import numpy as np
import pytest
from published import Cache, kinds, rows, text

from rota.data.downloads.remote import Remote
from rota.data.sources.movielens_1m import MovieLens1M
from rota.data.sources.movielens_20m import MovieLens20M
from rota.errors import InputError

TYPES = {
    "userId": "int64", "movieId": "int64", "rating": "float64", "timestamp": "int64", "rota_row": "int64",
}  # fmt: skip
OLD = text("1::1193::5::978300760", "1::661::3::978302109", "10::661::4::978302109", "2::1::5::978302109")
TITLE = "userId,movieId,rating,timestamp"


def test_1m(cache: Cache) -> None:
    cache.put(MovieLens1M(), OLD, "ratings.dat")
    assert rows(MovieLens1M()) == [
        (1, 1193, 5.0, 978300760),
        (1, 661, 3.0, 978302109),
        (10, 661, 4.0, 978302109),
        (2, 1, 5.0, 978302109),
    ]
    assert kinds(MovieLens1M()) == TYPES


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_20m(cache: Cache, end: str) -> None:
    cache.put(
        MovieLens20M(), text(TITLE, "1,2,3.5,1112486027", "1,29,0.5,1112486027", end=end), "ratings.csv"
    )
    assert rows(MovieLens20M()) == [(1, 2, 3.5, 1112486027), (1, 29, 0.5, 1112486027)]
    assert kinds(MovieLens20M()) == TYPES


def test_lines_that_are_not_of_the_layout(cache: Cache) -> None:
    cache.put(MovieLens1M(), OLD + text("3::x::5::978302109", "y::1::5::978302109"), "ratings.dat")
    with pytest.raises(InputError, match=r"ratings\.dat: column 'userId', row 6: 'y', expected int64"):
        rows(MovieLens1M())
    cache.put(MovieLens1M(), OLD + text("3::7::5"), "ratings.dat")
    with pytest.raises(InputError, match=r"ratings\.dat, line 5: "):
        rows(MovieLens1M())
    cache.put(MovieLens20M(), text("user,movie,rating,timestamp", "1,2,3.5,1112486027"), "ratings.csv")
    with pytest.raises(
        InputError, match="columns are user, movie, rating, timestamp; expected userId, movie"
    ):
        rows(MovieLens20M())
    cache.put(MovieLens20M(), text(TITLE, "1,2,3.5,1112486027.5"), "ratings.csv")
    with pytest.raises(InputError, match=r"column 'timestamp', row 1: '1112486027\.5'"):
        rows(MovieLens20M())


def test_an_archive_that_is_not_the_published_one(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    published: Remote = MovieLens1M().file
    cache.put(MovieLens1M(), OLD, "ratings.dat")
    monkeypatch.setattr(MovieLens1M, "file", property(lambda _: published))
    with pytest.raises(InputError, match="expected the publisher's, md5:c4d9eecfca2ab87c1945afe126590906"):
        rows(MovieLens1M())


def test_the_order_of_a_long_file_is_kept(cache: Cache) -> None:
    """Long enough for the database to read it in several pieces at once: compared with plain Python."""
    users = np.random.default_rng(0).integers(10**6, size=500_000)
    lines = (f"{user},{movie},0.5,{10**9 + user}" for movie, user in enumerate(users.tolist()))
    cache.put(MovieLens20M(), text(TITLE, *lines), "ratings.csv")
    connection = ibis.duckdb.connect(threads=8)
    found = MovieLens20M().table(connection).order_by("rota_row").to_pyarrow()
    assert np.array_equal(found["userId"].to_numpy(), users)
    assert np.array_equal(found["movieId"].to_numpy(), np.arange(len(users)))
    assert np.array_equal(found["rota_row"].to_numpy(), np.arange(len(users)))
