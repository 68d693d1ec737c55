"""What every source promises."""

from typing import get_args

import pytest

from rota.data import Source
from rota.rooms import find, names
from rota.units import Unit

SOURCES = [name for name in names("data.sources") if name != "base"]


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_knows_its_log(name: str) -> None:
    source = find("data.sources", name, Source)()  # type: ignore[type-abstract]
    table = source.table()
    assert source.name == name
    assert source.licence
    assert source.citation
    assert set(source.columns) <= set(table.column_names)
    assert source.unit is None or source.unit in get_args(Unit)
    assert len(table)
