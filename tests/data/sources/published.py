"""Hand-made files in the layout of a published one, put in the cache as a person would."""

import gzip
import zipfile
from dataclasses import dataclass
from pathlib import Path

import ibis
import pytest

from rota.data.downloads.remote import Remote
from rota.data.downloads.verifying import checksum
from rota.data.raw import ROW
from rota.data.sources.base import Source


@dataclass
class Cache:
    """A cache of its own, in which a test puts files."""

    patch: pytest.MonkeyPatch

    def put(self, source: Source, content: bytes, member: str | None = None) -> None:
        """Put a file where a source looks for it; its published checksum becomes this file's."""
        file = source.file
        assert file is not None
        file.path.parent.mkdir(parents=True, exist_ok=True)
        if member is not None:
            with zipfile.ZipFile(file.path, "w") as archive:
                archive.writestr(f"folder/{member}", content)
                archive.writestr("folder/README.txt", "read me")
        elif file.name.endswith(".gz"):
            file.path.write_bytes(gzip.compress(content))
        else:
            file.path.write_bytes(content)
        if file.checksum is not None:
            assert file.checksum.startswith("md5:")
            made = Remote(file.name, file.page, file.url, checksum(file.path, "md5"), file.begins)
            self.patch.setattr(type(source), "file", property(lambda _: made))


def rows(source: Source) -> list[tuple[object, ...]]:
    """What a source gives, in the order of its rows; their numbers are checked and left out."""
    table = source.table(ibis.duckdb.connect())
    assert set(source.columns.present().values()) <= set(table.columns)
    assert table.columns[-1] == ROW
    found = table.order_by(ROW).to_pyarrow().to_pylist()
    assert [row.pop(ROW) for row in found] == list(range(len(found)))
    return [tuple(row.values()) for row in found]


def kinds(source: Source) -> dict[str, str]:
    """Type by column."""
    return {name: str(kind) for name, kind in source.table(ibis.duckdb.connect()).schema().items()}


def text(*lines: str, end: str = "\n", encoding: str = "utf-8") -> bytes:
    return "".join(line + end for line in lines).encode(encoding)


def folder(tmp_path: Path, patch: pytest.MonkeyPatch) -> Cache:
    patch.setenv("ROTA_CACHE", str(tmp_path / "cache"))
    return Cache(patch)
