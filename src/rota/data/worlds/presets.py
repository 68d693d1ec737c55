"""Worlds that are known by name: one of each kind of people, and a town of all."""

from rota.data.worlds.aimless import AimlessPeople
from rota.data.worlds.base import People
from rota.data.worlds.daily import DailyPeople
from rota.data.worlds.day_before import DayBeforePeople
from rota.data.worlds.repeating import RepeatingPeople
from rota.data.worlds.shifts import ShiftWorkers
from rota.data.worlds.weekly import WeeklyPeople
from rota.data.worlds.world import World
from rota.errors import InputError
from rota.rooms import find, offers

__all__ = ["preset_world", "preset_worlds"]

_ROOM, _TOWN = "data.worlds", "town"


def preset_worlds() -> list[str]:
    """Names that `preset_world` answers to."""
    return [*offers(_ROOM, People), _TOWN]


def preset_world(name: str) -> World:
    """A world by name.

    Args:
        name: Of a kind of people, who are then alone: ``"daily"``; or ``"town"``: all kinds, in three zones,
            two of which have summer time, with drift and novelty.

    Raises:
        InputError: There is no such world; the message lists those there are.
    """
    if name not in preset_worlds():
        raise InputError(f"unknown world {name!r}: expected one of {', '.join(preset_worlds())}")
    if name != _TOWN:
        kind = find(_ROOM, name, People)  # type: ignore[type-abstract]
        return World(kinds=(kind(),))
    kinds = {
        DailyPeople(): 0.3,
        WeeklyPeople(): 0.15,
        ShiftWorkers(): 0.1,
        DayBeforePeople(): 0.1,
        RepeatingPeople(): 0.2,
        AimlessPeople(): 0.15,
    }
    zones = {"Europe/Paris": 0.4, "America/New_York": 0.4, "Asia/Tokyo": 0.2}
    return World(
        kinds=tuple(kinds),
        shares=tuple(kinds.values()),
        zones=tuple(zones),
        zone_shares=tuple(zones.values()),
        drift="90d",
        novelty=0.1,
    )
