"""What the comparison of these tests was asked, and where it lies."""

from dataclasses import dataclass
from pathlib import Path

from town import Event

ARMS = ("none", "rope", "clockrope", "rope+clockrope", "trope")
OPTIONS = (
    f"--user user --item item --time when --arms {','.join(ARMS)} --control rope --seeds 2 --epochs 2 "
    "--embedding-dim 16 --batch-size 8 --prior wrapped_gaussian(24h,1h)"
)


@dataclass(frozen=True)
class Compared:
    """A comparison that the command line made.

    Attributes:
        rows: What its log holds, in the order of the file.
        parquet: The log.
        csv: The same log.
        out: Its folder of results.
        printed: What it said.
    """

    rows: list[Event]
    parquet: Path
    csv: Path
    out: Path
    printed: str
