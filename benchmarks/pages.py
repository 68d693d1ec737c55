"""Pages of docs/ in which tables stand between marks, each written by the script that measured it."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def between(text: str, mark: str) -> re.Match[str]:
    """What stands between ``<!-- mark -->`` and ``<!-- end -->``, in group 1."""
    found = re.search(rf"<!-- {re.escape(mark)} -->\n(.*?)\n?<!-- end -->", text, re.DOTALL)
    if found is None:
        raise SystemExit(f"no <!-- {mark} --> ... <!-- end --> on the page")
    return found


def write_between(page: str, mark: str, table: str) -> None:
    """Put a table there."""
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    place = between(text, mark)
    path.write_text(text[: place.start()] + f"<!-- {mark} -->\n{table}\n<!-- end -->" + text[place.end() :])
