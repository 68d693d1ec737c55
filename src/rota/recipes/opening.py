"""Opening: a log by name, or a prepared dataset, and the users of it who can be asked."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime

from rota.data.dataset import is_dataset, load_dataset
from rota.data.doctor.examining import require_sound
from rota.data.events import Events
from rota.data.log import Log
from rota.data.options import Reading
from rota.data.reading import read_events_into_log
from rota.errors import InputError
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


def stated(**given: str | None) -> Reading:
    """What a person said of a log on the command line; ``None`` is what was not said.

    Raises:
        InputError: One of them is not to be had.
    """
    return Reading(**{name: value for name, value in given.items() if value is not None})


def open_log(source: str, reading: Reading, *, sample_users: int | None = None) -> Opened:
    """Read a log or load a prepared dataset, and draw a sample of its users where one is asked for.

    Args:
        source: Folder of a prepared dataset, or what `read_log` takes.
        reading: How to understand it; a prepared dataset is understood already.
        sample_users: How many users to draw from those who have events enough to be asked.

    Raises:
        InputError: It cannot be read, its clock makes no sense, it has not so many users, or it is prepared
            and yet something is said of it.
    """
    log = _load(source, reading) if is_dataset(source) else read_events_into_log(source, reading, _sound)
    facts = log.describe()
    if sample_users is None:
        return Opened(log, facts)
    drawn = f"{sample_users:,} users, drawn at random from those with {MIN_EVENTS} events or more"
    return Opened(log.sample_users(sample_users, least=MIN_EVENTS), [*facts, ("sample", drawn)])


def _sound(events: Events) -> None:
    require_sound(events, datetime.now(UTC).date())


def _load(source: str, reading: Reading) -> Log:
    plain = Reading()
    for field in fields(reading):
        value = getattr(reading, field.name)
        if value != getattr(plain, field.name):
            raise InputError(
                f"{source} is a prepared dataset: {field.name.replace('_', '-')} {str(value)!r} was settled "
                "when it was made: leave the option out, or prepare the log again with it"
            )
    return load_dataset(source)
