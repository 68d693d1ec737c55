"""Draw the pictures of ``docs/priors.md`` and the README: ``python scripts/pictures.py [FOLDER]``."""

import sys
from pathlib import Path

from rota import draw_design
from rota.recipes.designing import design

IMAGES = Path(__file__).parent.parent / "docs" / "images"
PICTURES = {
    "design.png": "wrapped_gaussian(24h, 2h)",
    "design-sum.png": "wrapped_gaussian(24h, 2h) * 0.7 + wrapped_gaussian(7d, 14h) * 0.3",
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    for name, profile in PICTURES.items():
        draw_design(design(profile), folder / name)


if __name__ == "__main__":
    main()
