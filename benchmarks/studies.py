"""The studies of docs/results.md: which logs, which arms, and what they are told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

WHO = ("--user", "user_id", "--item", "item_id", "--time", "timestamp")
NYC = ("fsq_nyc.parquet", *WHO, "--zone", "America/New_York")
FLIGHTS = ("flights", "--sample-users", "1000")


@dataclass(frozen=True)
class Study:
    """One comparison.

    Attributes:
        log: Log and how it is read, as `rota compare` takes them.
        arms: Arms with the options that are theirs alone.
        control: Arm that the others are compared with.
        options: Of every arm.
        seeds: Trainings of each.
        about: What a reader should know of it.
    """

    log: tuple[str, ...]
    arms: Mapping[str, tuple[str, ...]]
    control: str
    options: tuple[str, ...] = ()
    seeds: int = 3
    about: str = field(default="")


def plain(*arms: str) -> dict[str, tuple[str, ...]]:
    """Arms that need no options."""
    return dict.fromkeys(arms, ())


STUDIES = {
    "fsq_nyc": Study(
        NYC,
        plain(
            "rope", "rope+clockrope", "rope+clockrope-measured", "none", "clockrope", "trope", "sasrec",
            "hstu", "tisasrec", "sasrec:calendar", "hstu:rope+clockrope",
        ),
        "rope",
        ("--repeat-head", "--loss", "full_softmax", "--epochs", "12"),
        about="with a repeat head, time access request",
    ),
    "fsq_nyc-no-repeat-head": Study(
        NYC,
        plain("rope", "rope+clockrope"),
        "rope",
        ("--loss", "full_softmax", "--epochs", "12"),
        about="without a repeat head, time access request",
    ),
    "flights": Study(
        FLIGHTS,
        {
            **dict.fromkeys(("rope", "rope+clockrope", "rope+clockrope-measured"), ("--seeds", "6")),
            **plain("none", "clockrope", "trope"),
        },
        "rope",
        ("--loss", "full_softmax", "--epochs", "16", "--patience", "4"),
        about="no repeat head, time access request",
    ),
    "flights-long": Study(
        FLIGHTS,
        plain("rope", "rope+clockrope", "rope+clockrope-measured"),
        "rope",
        ("--loss", "full_softmax", "--epochs", "48", "--patience", "6"),
        about="no repeat head, time access request, until validation falls",
    ),
    "flights-history": Study(
        FLIGHTS,
        plain("rope", "rope+clockrope"),
        "rope",
        ("--loss", "full_softmax", "--epochs", "16", "--patience", "4", "--time-access", "history"),
        about="no repeat head, time access history",
    ),
    "mathoverflow": Study(
        ("mathoverflow.parquet", *WHO, "--sample-users", "1500"),
        plain("rope", "rope+clockrope", "rope+clockrope-measured", "none", "clockrope", "trope"),
        "rope",
        ("--epochs", "40", "--patience", "4", "--num-negatives", "2048"),
        about="no repeat head, time access request",
    ),
}  # fmt: skip
