"""Opening: a log by name, and the users of it who can be asked."""

from dataclasses import dataclass

from rota.data.log import Log
from rota.data.reading import read_log
from rota.recipes.question import MIN_EVENTS

__all__: list[str] = []


@dataclass(frozen=True)
class Opened:
    """A log as a comparison will ask about it.

    Attributes:
        log: The events.
        facts: What a person should see before trusting it, as labels and values.
    """

    log: Log
    facts: list[tuple[str, str]]


def open_log(
    source: str,
    *,
    user: str | None,
    item: str | None,
    time: str | None,
    unit: str | None,
    zone: str | None,
    sample_users: int | None,
) -> Opened:
    """Read a log, and draw a sample of its users where one is asked for.

    Args:
        source: Path or name; with columns, unit and zone as `read_log` takes them.
        user: Column of the user.
        item: Column of the item.
        time: Column of the time.
        unit: Unit of integer times.
        zone: Time zone in which users live.
        sample_users: How many users to draw from those who have events enough to be asked.

    Raises:
        InputError: It cannot be read, or has not so many users.
    """
    log = read_log(source, user=user, item=item, time=time, unit=unit, zone=zone)
    facts = log.describe()
    if sample_users is None:
        return Opened(log, facts)
    drawn = f"{sample_users:,} users, drawn at random from those with {MIN_EVENTS} events or more"
    return Opened(log.sample_users(sample_users, least=MIN_EVENTS), [*facts, ("sample", drawn)])
