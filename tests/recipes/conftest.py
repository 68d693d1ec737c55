"""One small comparison by the command line, which several files look at."""

from contextlib import redirect_stdout
from io import StringIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from compared import OPTIONS, Compared

from rota import cli
from town import columns, town


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("compared")
    rows = town()
    table = pa.table(columns(rows))
    pa.parquet.write_table(table, folder / "town.parquet")
    pa.csv.write_csv(table, folder / "town.csv")
    given = ["compare", str(folder / "town.parquet"), *OPTIONS.split(), "--out", str(folder / "out")]
    with redirect_stdout(StringIO()) as printed:
        assert cli.run(given) == 0
    return Compared(rows, folder / "town.parquet", folder / "town.csv", folder / "out", printed.getvalue())
