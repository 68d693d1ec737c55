"""Draw the pictures of ``docs/`` and the README: ``python scripts/pictures.py [FOLDER]``."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rota import draw_design, draw_modulation, modulation
from rota.encodings.base import Encoding
from rota.recipes.designing import design
from rota.tables import from_table

DOCS = Path(__file__).parent.parent / "docs"
DESIGNS = {
    "design.png": "wrapped_gaussian(24h, 2h)",
    "design-sum.png": "wrapped_gaussian(24h, 2h) * 0.7 + wrapped_gaussian(7d, 14h) * 0.3",
}
SECONDS, EVENTS = np.arange(0, 8 * 86_400 + 1, 600), np.arange(0, 129)  # lags that are shown
PICTURE = re.compile(r"!\[[^\]]*\]\(images/(encoding-[\w-]+\.png)\)")
TABLE = re.compile(r"```toml\n(.*?)```", re.DOTALL)


def gallery() -> Iterator[tuple[str, str, Encoding]]:
    """Each picture of ``docs/encodings.md``: its file, the title of its section, and what the TOML says."""
    page = (DOCS / "encodings.md").read_text(encoding="utf-8")
    for section in re.split(r"^#+ ", page, flags=re.MULTILINE):
        for name, table in zip(PICTURE.findall(section), TABLE.findall(section), strict=False):
            encoding = from_table(tomllib.loads(table), Encoding)  # type: ignore[type-abstract]
            yield name, section.partition("\n")[0], encoding


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "images"
    for name, profile in DESIGNS.items():
        draw_design(design(profile), folder / name)
    for name, title, encoding in gallery():
        lags, along = (SECONDS, "time") if encoding.needs_clock else (EVENTS, "position")
        draw_modulation(modulation(encoding, lags, along), folder / name, title=title)


if __name__ == "__main__":
    main()
