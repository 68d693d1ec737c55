"""Amazon Books: hand-made lines in the layout of the publisher's sample."""

import gzip

import pytest
from published import Cache, kinds, rows, text

from rota.data.sources.amazon_books import AmazonBooks
from rota.errors import InputError

TITLE = "user_id,parent_asin,rating,timestamp"
LINES = (
    "AGKASBHYZPGTEPO6LWZPVJWB2BVA,0001712799,3.0,1452647382000",
    "AGKASBHYZPGTEPO6LWZPVJWB2BVA,B00TLEMSVK,4.0,1454675785123",
    "AE22236AFRRSMQIKGG7TPTB75QEA,0001712799,5.0,1454675785123",
)


def test_rows(cache: Cache) -> None:
    cache.put(AmazonBooks(), text(TITLE, *LINES))
    assert rows(AmazonBooks()) == [
        ("AGKASBHYZPGTEPO6LWZPVJWB2BVA", "0001712799", 3.0, 1452647382000),
        ("AGKASBHYZPGTEPO6LWZPVJWB2BVA", "B00TLEMSVK", 4.0, 1454675785123),
        ("AE22236AFRRSMQIKGG7TPTB75QEA", "0001712799", 5.0, 1454675785123),
    ]
    assert kinds(AmazonBooks()) == {
        "user_id": "string", "parent_asin": "string", "rating": "float64", "timestamp": "int64",
        "rota_row": "int64",
    }  # fmt: skip


def test_ids_stay_as_they_are_written(cache: Cache) -> None:
    """Also where all of them could be read as numbers: an ISBN's zeros count."""
    cache.put(AmazonBooks(), text(TITLE, "A,0001712799,5.0,1", ",0002005263,5.0,2"))
    assert rows(AmazonBooks()) == [("A", "0001712799", 5.0, 1), (None, "0002005263", 5.0, 2)]


def test_damage_is_an_error(cache: Cache) -> None:
    cache.put(AmazonBooks(), text("user_id,asin,rating,timestamp", *LINES))
    with pytest.raises(InputError, match=r"columns are user_id, asin, .*another version"):
        rows(AmazonBooks())
    path = AmazonBooks().file.path
    path.with_name("Books.csv.gz.first").unlink()
    whole = gzip.compress(text(TITLE, *LINES * 1000))
    for damaged in (whole[:-20], whole[:-8], whole[:-8] + bytes(8), whole[:200] + b"x" + whole[201:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"Books\.csv\.gz is damaged: .*get it anew"):
            rows(AmazonBooks())
    cache.put(AmazonBooks(), text(TITLE, *LINES))
    assert len(rows(AmazonBooks())) == 3
    cache.put(AmazonBooks(), text(TITLE, *LINES[:2]))
    with pytest.raises(InputError, match="expected that of the first copy"):
        rows(AmazonBooks())
