"""PixelRec: hand-made lines in the layout of dataset/readme.md."""

import pytest
from published import Cache, kinds, rows, text

from rota.data.sources.pixelrec import PixelRec, PixelSize
from rota.errors import InputError

TITLE = "item_id,user_id,timestamp"


@pytest.mark.parametrize("size", list(PixelSize))
def test_rows(cache: Cache, size: PixelSize) -> None:
    source = PixelRec(size)
    cache.put(source, text(TITLE, "i72138,u209296,1605059546", "i15530,u2444520,1605059546"))
    assert source.file.path.name == f"{size}.csv"
    assert rows(source) == [("i72138", "u209296", 1605059546), ("i15530", "u2444520", 1605059546)]
    assert kinds(source)["timestamp"] == "int64"


def test_the_smallest_is_meant_where_none_is_named() -> None:
    assert PixelRec().file.path.name == "Pixel200K.csv"


def test_it_is_brought_by_hand(cache: Cache) -> None:
    with pytest.raises(InputError, match=r"no program can fetch it: get it from https://drive.*Pixel1M\.csv"):
        rows(PixelRec(PixelSize.PIXEL_1M))
    cache.put(PixelRec(), text("item_id,title", "i1,x"))
    with pytest.raises(
        InputError, match=r"begins with b'item_id,title.*expected b'item_id,user_id,timestamp'"
    ):
        rows(PixelRec())
