"""The gallery of encodings: nobody is missing, its TOML builds, and its table is what the code does."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from roll_call import roll_call
from rota.analysis import modulation
from rota.encodings import BiasRecipe, Encoding, InputRecipe
from rota.recipes.encoding_costs import count_encoding, every_encoding, published_trope_flops
from rota.tables import Recipe, from_table, to_table

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "encodings.md").read_text(encoding="utf-8")
TABLES = [tomllib.loads(table) for table in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)]
ROWS = {
    cells[0].strip("`"): cells[1:]
    for cells in (
        line.strip("| ").split(" | ") for line in re.findall(r"^\| `\w+` \|.*$", PAGE, re.MULTILINE)
    )
}
EVERY = every_encoding()


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "scripts" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nobody_is_missing() -> None:
    shown = {str(table["recipe"]).removeprefix("encodings.") for table in TABLES}
    kinds: list[type] = [Encoding, BiasRecipe, InputRecipe]
    assert shown == {name for kind in kinds for name in roll_call("encodings", kind)}
    assert set(ROWS) == set(EVERY)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table["recipe"]))
def test_its_toml_is_a_recipe(table: dict[str, object]) -> None:
    recipe = from_table(table, Recipe)
    assert from_table(to_table(recipe), Recipe) == recipe


@pytest.mark.parametrize("name", EVERY)
def test_a_row_is_what_the_code_does(name: str) -> None:
    _, shift, _, absolute, cache, *counts = ROWS[name]
    encoding = EVERY[name]
    cost = count_encoding(encoding)
    counted = (cost.parameters, cost.forward.cosines, cost.forward.operations, cost.backward)
    assert tuple(map(int, counts)) == counted
    assert cache == ("yes" if encoding.build(head_dim=64, num_heads=4).cacheable else "no")
    found = modulation(encoding, np.arange(0, 86_401, 3600))
    assert shift == ("yes" if np.allclose(found.mean, found.elsewhere, atol=1e-5) else "no")
    assert absolute == ("no" if shift == "yes" else "yes")


def test_the_prose_counts_as_the_paper_and_as_the_code() -> None:
    found = re.search(r"= (\d+)\$ operations backward\. Here they take (\d+),", PAGE)
    assert found is not None
    _, published = published_trope_flops()["backward, coefficients"]
    assert tuple(map(int, found.groups())) == (published, count_encoding(EVERY["trope"]).learned)


def test_every_picture_is_drawn_from_the_page(pictures: ModuleType) -> None:
    drawn = {name: encoding for name, _, encoding in pictures.gallery()}
    linked = re.findall(r"!\[[^\]]*\]\(images/([\w.-]+)\)", PAGE)
    assert list(drawn) == linked
    assert all((ROOT / "docs" / "images" / name).is_file() for name in linked)
    kinds = {type(encoding) for encoding in drawn.values()}
    assert kinds == {type(encoding) for name, encoding in EVERY.items() if name != "none"}


@pytest.mark.slow
def test_the_pictures_can_be_drawn(
    pictures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["pictures.py", str(tmp_path)])
    pictures.main()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*pictures.DESIGNS, *(name for name, _, _ in pictures.gallery())}
