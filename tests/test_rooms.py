"""Rooms: the folder is the registry, names are unique, and stubs show what the scan finds."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rota
from rota import rooms
from rota.data import Source
from rota.data.sources.flights import Flights
from rota.errors import InputError
from rota.rooms import attach, find, import_part, members, names, public_names


def package(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty house in place of ours."""
    monkeypatch.setattr(rooms, "_ROOT", tmp_path)
    members.cache_clear()
    yield tmp_path
    members.cache_clear()


def test_public_names_of_a_file() -> None:
    source = "class A:\n    def inner(self): ...\ndef b(): ...\ndef _c(): ...\nD = 1\n"
    assert public_names(source) == ["A", "b"]
    assert public_names(source + '__all__ = ["D"]\n') == ["D"]
    assert public_names(source + '__all__: list[str] = [\n    "D",\n    "b",\n]\n') == ["D", "b"]
    assert public_names(source + "__all__ = []\n") == []


def test_members_say_where_each_name_is(house: Path) -> None:
    package(house, one="class One: ...\n", _hidden="class Hidden: ...\n", cli="class Program: ...\n")
    (house / "room").mkdir()
    package(house / "room", two="def two_of(): ...\n")
    assert members("rota") == {"One": "rota.one", "two_of": "rota.room.two"}
    assert members("rota.room") == {"two_of": "rota.room.two"}
    assert names("room") == ["two"]


def test_one_name_in_two_files_is_refused(house: Path) -> None:
    package(house, one="class Same: ...\n", two="class Same: ...\n")
    with pytest.raises(ImportError, match=r"Same is offered by rota\.one and by rota\.two"):
        members("rota")


def test_a_name_that_is_a_file_or_a_room_is_refused(house: Path) -> None:
    package(house, one="def one(): ...\n")
    with pytest.raises(ImportError, match="one names a file"):
        members("rota")
    members.cache_clear()
    package(house, one="def room(): ...\n")
    (house / "room").mkdir()
    with pytest.raises(ImportError, match="room names a file"):
        members("rota")
    members.cache_clear()
    package(house, one="class One: ...\n")  # on some file systems One.py "exists"
    assert members("rota") == {"One": "rota.one"}


def test_find() -> None:
    assert find("data.sources", "flights", Source) is Flights  # type: ignore[type-abstract]
    for name in ("nothing", "base", "../log", ""):
        with pytest.raises(InputError, match=r"unknown name .* in data\.sources: expected one of .*flights"):
            find("data.sources", name, Source)  # type: ignore[type-abstract]


def test_names_import_lazily() -> None:
    lookup, listing = attach("rota.data")
    assert lookup("Flights") is Flights
    assert {"Flights", "Log", "read_log"} <= set(listing())
    with pytest.raises(AttributeError, match=r"module 'rota\.data' has no attribute 'flight'"):
        lookup("flight")
    with pytest.raises(AttributeError):
        lookup("__path__")
    assert rota.Log is rota.data.Log


def test_a_star_imports_all_public_names() -> None:
    code = (
        "from rota.kernels import *; WrappedGaussian('24h', '2h'); certify, project, parse_kernel; "
        "import rota.kernels as room; assert {'Cosine', 'certify'} <= set(room.__all__) <= set(dir(room)); "
        "assert 'seconds' not in vars()"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_the_data_wing_needs_no_torch() -> None:
    code = "import sys, rota.data; rota.data.read_log, rota.data.LeaveLast; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(rooms, "import_module", absent)
    missing = "pyarrow.csv"
    with pytest.raises(
        ModuleNotFoundError, match=r"rota\.data\.log needs pyarrow\.csv.*'rota\[data\]'"
    ) as caught:
        import_part("rota.data.log")
    assert caught.value.name == missing
    missing = "something_else"
    with pytest.raises(ModuleNotFoundError, match="No module named 'something_else'"):
        import_part("rota.data.log")


def test_every_public_name_imports() -> None:
    missing = [name for name, module in members("rota.data").items() if name not in vars(import_part(module))]
    assert not missing
