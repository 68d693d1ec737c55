"""What every world promises: exact counts, a log that is a function of its seed, a truth that is true."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
import tomli_w
from worlds_made import Columns, made

from roll_call import roll_call
from rota.data.worlds import People, World, population, preset_world, preset_worlds
from rota.errors import InputError
from rota.tables import from_table, to_table

WORLDS = preset_worlds()
JITTER = 1800
SMALL = {"users": 60, "events": 6_000, "items": 300, "span": "60d", "seed": 3}


def small(name: str) -> World:
    return replace(preset_world(name), **SMALL)  # type: ignore[arg-type]


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> World:
    return small(request.param)


def equal(one: Columns, other: Columns) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_every_kind_has_a_world() -> None:
    kinds = roll_call("data.worlds", People)  # type: ignore[type-abstract]
    assert set(WORLDS) == {*kinds, "town"}
    assert {type(kind) for kind in preset_world("town").kinds} == set(kinds.values())
    with pytest.raises(InputError, match="unknown world 'city': expected one of aimless, daily"):
        preset_world("city")


def test_counts_are_exact_and_rows_are_in_order(world: World) -> None:
    rows = made(world)
    assert len(rows["time"]) == 6_000
    assert np.array_equal(np.unique(rows["user"]), np.arange(60))
    assert np.array_equal(np.bincount(rows["user"]), world.population.counts)
    assert np.array_equal(rows["event"], np.arange(6_000))
    assert np.array_equal(np.lexsort((rows["event"], rows["time"], rows["user"])), rows["event"])
    assert rows["item"].min() >= 0
    assert rows["item"].max() < 300
    day = 86_400  # of the zones, and of a late habit
    assert rows["time"].min() >= world.first - day
    assert rows["time"].max() <= world.first + 61 * day


def test_a_world_is_a_function_of_its_seed(world: World) -> None:
    rows = made(world)
    assert equal(rows, made(replace(world)))
    assert not equal(rows, made(replace(world, seed=4)))


def test_batches_are_one_log_however_it_is_cut(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "_BLOCK", 700)  # several blocks, so that cuts cross them
    whole = made(world)
    assert [len(batch) for batch in world.batches(2_500)] == [2_500, 2_500, 1_000]
    assert equal(whole, made(world, rows=97))


def test_the_truth_is_true(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "_BLOCK", 700)  # what follows what is counted through all blocks
    rows = made(world)
    people = {
        (user, kind, zone) for user, kind, zone in zip(rows["user"], rows["kind"], rows["zone"], strict=True)
    }
    assert len(people) == 60  # one kind and one zone each
    routine, parent = rows["routine"] >= 0, rows["follows"]
    late = rows["time"] - rows["due"]
    assert np.all(late[~routine] == 0)
    assert np.abs(late).max() < 8 * JITTER
    follows = parent >= 0
    for column in ("user", "item"):
        assert np.array_equal(rows[column][follows], rows[column][parent[follows]])
    assert np.all(parent[follows] < rows["event"][follows])
    assert np.all(rows["time"][parent[follows]] <= rows["time"][follows])
    slotted = routine & ~follows
    habits = np.unique(np.stack([rows[name][slotted] for name in ("user", "routine", "item")]), axis=1)
    assert len(habits.T) == len(np.unique(habits[:2], axis=1).T)  # a habit has one item


def test_a_recipe_is_one_table(world: World) -> None:
    assert from_table(tomllib.loads(tomli_w.dumps(to_table(world))), World) == world


def test_people_and_zones_are_dealt_to_the_nearest_person() -> None:
    town = preset_world("town")
    assert np.bincount(town.population.kind).tolist() == [300, 150, 100, 100, 200, 150]
    assert np.bincount(town.population.zone).tolist() == [400, 400, 200]


def test_rates_spread_as_asked() -> None:
    alike = replace(preset_world("aimless"), spread=0.0, users=7, events=1_000).population.counts
    assert alike.max() - alike.min() <= 1
    counts = replace(preset_world("aimless"), spread=1.2, users=20_000, events=10_000_000).population.counts
    assert counts.sum() == 10_000_000
    assert np.log(counts).std() == pytest.approx(1.2, rel=0.03)


def test_popularity_is_zipf_and_numbers_do_not_tell_it() -> None:
    rows = made(World(kinds=preset_world("aimless").kinds, events=200_000, items=50, popularity=1.0))
    counts = np.bincount(rows["item"], minlength=50)
    wanted = 1 / np.arange(1, 51)
    found = np.sort(counts)[::-1] / counts.sum()
    assert np.abs(found - wanted / wanted.sum()).max() < 0.005
    assert abs(np.corrcoef(np.arange(50), counts)[0, 1]) < 0.5


def test_new_items_appear_and_are_known() -> None:
    world = World(kinds=preset_world("aimless").kinds, events=100_000, items=500, novelty=0.4, popularity=0.0)
    rows = made(world)
    new = np.unique(rows["item"][rows["new"]])
    assert len(new) == pytest.approx(200, abs=5)  # a few appear too late to be seen
    assert not np.isin(rows["item"][~rows["new"]], new).any()
    age = (rows["time"] - world.first) / (world.days * 86_400)
    thirds = [rows["new"][(age >= low / 3) & (age < (low + 1) / 3)].mean() for low in range(3)]
    share = [
        np.mean([0.4 * a / (0.6 + 0.4 * a) for a in np.linspace(low / 3, (low + 1) / 3, 99)])
        for low in range(3)
    ]
    assert thirds == pytest.approx(share, abs=0.03)
    first_seen = np.array([age[rows["item"] == item].min() for item in new])
    assert np.histogram(first_seen, 4, (0, 1))[0] == pytest.approx([50] * 4, abs=25)
    assert not made(replace(world, novelty=0.0))["new"].any()


def test_times_are_rounded_down() -> None:
    exact = made(small("daily"))
    rounded = made(replace(small("daily"), resolution="1h"))
    assert np.array_equal(rounded["time"], exact["time"] // 3600 * 3600)
    assert np.array_equal(rounded["item"], exact["item"])
