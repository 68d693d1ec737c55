"""The gallery of encodings: nobody is missing, its TOML builds, and its table is what the code does."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor

from roll_call import roll_call
from rota.analysis import modulation
from rota.attention import Intervals, relative_intervals, smallest_gaps
from rota.encodings import BiasRecipe, Encoding, GapBias, InputRecipe, TimeBias
from rota.recipes.addition_costs import count_addition, every_addition
from rota.recipes.encoding_costs import (
    EncodingCost,
    count_encoding,
    every_encoding,
    published_trope_flops,
    row_of_times,
)
from rota.tables import Recipe, from_table, to_table

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "encodings.md").read_text(encoding="utf-8")
TABLES = [tomllib.loads(table) for table in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)]
ROWS = {
    cells[0].split("`")[1]: cells[1:]
    for cells in (
        line.strip("| ").split(" | ")
        for line in re.findall(r"^\| `\w+`(?: \(`attention\.`\))? \|.*$", PAGE, re.MULTILINE)
    )
}
EVERY, ADDED = every_encoding(), every_addition()


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "scripts" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nobody_is_missing() -> None:
    shown = {str(table["recipe"]) for table in TABLES}
    kinds: list[type] = [Encoding, BiasRecipe, InputRecipe]
    wanted = {f"encodings.{name}" for kind in kinds for name in roll_call("encodings", kind)}
    assert shown == {*wanted, "attention.intervals"}
    assert set(ROWS) == {*EVERY, *ADDED}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table["recipe"]))
def test_its_toml_is_a_recipe(table: dict[str, object]) -> None:
    recipe = from_table(table, Recipe)
    assert from_table(to_table(recipe), Recipe) == recipe


@pytest.mark.parametrize("name", EVERY)
def test_a_row_is_what_the_code_does(name: str) -> None:
    _, shift, _, absolute, cache, *counts = ROWS[name]
    encoding = EVERY[name]
    assert tuple(map(int, counts)) == counted(count_encoding(encoding))
    assert cache == ("yes" if encoding.build(head_dim=64, num_heads=4).cacheable else "no")
    found = modulation(encoding, np.arange(0, 86_401, 3600))
    assert shift == ("yes" if np.allclose(found.mean, found.elsewhere, atol=1e-5) else "no")
    assert absolute == ("no" if shift == "yes" else "yes")


def counted(cost: EncodingCost) -> tuple[int, int, int, int]:
    return cost.parameters, cost.forward.cosines, cost.forward.operations, cost.backward


@pytest.mark.parametrize("name", ADDED)
def test_a_row_of_what_is_added_is_what_the_code_does(name: str) -> None:
    _, shift, _, absolute, cache, *counts = ROWS[name]
    assert tuple(map(int, counts)) == counted(count_addition(ADDED[name]))
    here, there = (added(name, row_of_times() + by, row_of_times() + by) for by in (0, 10**9 + 12_345))
    assert shift == ("yes" if torch.equal(here, there) else "no")
    assert absolute == ("no" if shift == "yes" else "yes")
    if not isinstance(ADDED[name], InputRecipe):
        assert cache == "yes"  # keys do not know the time; what is added is made for each pair anew
        return
    later = row_of_times()
    later[:, -1] += 12_345
    changed = (added(name, later, row_of_times()) != here).any(-1)[0]
    assert changed.nonzero().flatten().tolist() == [199]
    assert cache == "all but the last"


def added(name: str, asked: Tensor, seen: Tensor) -> Tensor:
    """To the pairs or events of a row; of intervals, which vectors the pairs get."""
    recipe = ADDED[name]
    torch.manual_seed(0)
    with torch.no_grad():
        if isinstance(recipe, BiasRecipe):
            return recipe.build(max_len=200)(asked, seen)
        if isinstance(recipe, InputRecipe):
            return recipe.build(8)(seen, asked)
        assert isinstance(recipe, Intervals)
        return relative_intervals(asked, seen, smallest_gaps(seen), recipe.num_intervals)


def test_what_the_pictures_of_biases_and_intervals_say(pictures: ModuleType) -> None:
    """Of a day's profile a bias by time keeps the first, and from the second day on has one level for it."""
    bias = pictures.time_bias(TimeBias())
    wanted = pictures.wanted(bias.lags)
    hours = bias.lags / 3600
    first, second_on = hours < 6, hours > 48
    assert np.abs(bias.dark - wanted)[first].max() < 0.2
    assert np.ptp(bias.dark[second_on]) < 0.1 < np.ptp(wanted[second_on])
    found = pictures.intervals(Intervals())
    assert np.abs(found.dark - wanted).max() < 0.25  # in steps of an hour
    two_hours = hours == 2.0
    assert found.pale[0][two_hours] == pytest.approx(wanted[0], abs=0.05)  # this user's day
    clipped = hours > 256 * 5 / 60
    assert np.ptp(found.pale[0][clipped]) == 0.0


def test_what_is_drawn_of_a_bias_is_the_module(pictures: ModuleType) -> None:
    found = pictures.time_bias(TimeBias())
    layer = TimeBias(position=False).build(max_len=200, layer=1)
    assert isinstance(layer, GapBias)
    now = torch.tensor([[pictures.NOW]])
    with torch.no_grad():
        drawn = layer(now, now - torch.from_numpy(found.lags)[None])[0, 0, 0]
    np.testing.assert_array_equal(found.pale[1], drawn.double().numpy())


def test_the_prose_counts_as_the_paper_and_as_the_code() -> None:
    found = re.search(r"= (\d+)\$ operations backward\. Here they take (\d+),", PAGE)
    assert found is not None
    _, published = published_trope_flops()["backward, coefficients"]
    assert tuple(map(int, found.groups())) == (published, count_encoding(EVERY["trope"]).learned)


def test_every_picture_is_drawn_from_the_page(pictures: ModuleType) -> None:
    drawn = {name: recipe for name, _, recipe in pictures.gallery()}
    linked = re.findall(r"!\[[^\]]*\]\(images/([\w.-]+)\)", PAGE)
    assert list(drawn) == linked
    assert all((ROOT / "docs" / "images" / name).is_file() for name in linked)
    assert {type(recipe) for recipe in drawn.values()} == {
        type(r) for r in [*EVERY.values(), *ADDED.values()]
    }


@pytest.mark.slow
def test_the_pictures_can_be_drawn(
    pictures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["pictures.py", str(tmp_path)])
    pictures.main()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*pictures.DESIGNS, *(name for name, _, _ in pictures.gallery())}
