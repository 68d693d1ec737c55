"""The doctor's report on a terminal and as a page: complete, within its room, and deaf to what names say."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import ibis
import pyarrow as pa
import pytest
from rich.console import Console

from rota.data.doctor import Diagnosis, Quantiles, examine
from rota.data.events import Events
from rota.plots.inspection_page import inspection_html
from rota.plots.inspection_svg import area_svg, heat_svg
from rota.plots.inspection_text import bars, inspection_report
from rota.plots.inspection_words import inspection_facts, printable, verdict
from rota.plots.rates import daily_rates

NASTY = '<script>alert("x")</script>&\x1b[31m\n' + "w" * 90
T0, DAY = 1_600_041_600, 86_400


@pytest.fixture(scope="module")
def found() -> Diagnosis:
    """A report with a hole, ties, a busy user with a nasty name, and both clocks."""
    rows = [
        (
            f"u{k % 50}" if k % 3 else NASTY,
            f"i{k % 31}",
            T0 + (k // 9) * DAY + 20 * DAY * (k > 700) + k % 9 * 3000,
        )
        for k in range(1400)
    ]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("user", "item", "time"))}
    table = ibis.duckdb.connect().create_table("log", pa.table({**columns, "row": range(len(rows))}))
    log = Events(table, NASTY, "log", "s", zone="America/New_York", rows=1400)
    return examine(log, date(2021, 12, 1))


def printed(found: Diagnosis, width: int) -> str:
    console = Console(width=width, emoji=False, color_system=None)
    with console.capture() as capture:
        console.print(inspection_report(found), highlight=False)
    return capture.get()


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_all_within_its_width(found: Diagnosis, width: int) -> None:
    text = printed(found, width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    words = " ".join(text.split())
    for finding in found.findings:
        assert finding.remedy in words
        assert all(option in words for option in finding.options)
    assert {"dominant_user", "collection_gaps"} <= {each.code for each in found.findings}
    for said in (
        "hours, the users' clock",
        "hours, UTC",
        "weekdays",
        "Mo Tu We",
        "events a day",
        verdict(found),
    ):
        assert said in text


def test_bars_rise_with_their_values() -> None:
    assert bars([0, 1, 8, 16], 1, 2) == ["   █", " ▁██"]
    assert bars([0, 0], 2, 1) == ["    "]
    assert bars([1, 10_000], 1, 1) == ["▁█"]  # little is not nothing


def test_rates_are_means_of_whole_days() -> None:
    assert daily_rates([1, 2, 3, 4, 5], 5) == [1, 2, 3, 4, 5]
    assert daily_rates([1, 2, 3, 4, 5], 2) == [2, 4.5]


class Page(HTMLParser):
    """Tags of a page that are not closed, and the scripts in it."""

    VOID = ("meta", "link", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_and_obeys_no_name(found: Diagnosis) -> None:
    html = inspection_html(found)
    page = Page()
    page.feed(html)
    assert not page.open
    assert page.tags.count("script") == 1  # its own
    assert page.tags.count("article") == len(found.findings)
    assert page.tags.count("img") == 0
    assert "\x1b" not in html
    assert "&lt;script&gt;alert" in html
    assert not re.search(r"(src|href)=\"(?!data:,)|@import|url\(|https?:", html)


def test_the_page_says_what_the_report_says(found: Diagnosis) -> None:
    html = inspection_html(found).replace("\N{NO-BREAK SPACE}", " ")
    for finding in found.findings:
        assert printable(finding.breaks).replace("'", "&#x27;") in html
        assert all(option in html for option in finding.options)
    assert html.count('class="heat"') == 2
    assert 'class="silence"' in html


def test_what_is_not_known_is_not_drawn(found: Diagnosis) -> None:
    bare = replace(
        found, hours_utc=None, hours_local=None, daily=(), daily_start=None, start=None, end=None,
        known_epoch=False, zone=None, findings=(), silences=(), gaps=Quantiles((), found.gaps.bars),
    )  # fmt: skip
    html, text = inspection_html(bare), printed(bare, 80)
    assert "Hours of the week" not in html
    assert "Nothing found" in html
    assert "weekdays" not in text
    assert "an unknown zero" in dict(inspection_facts(bare))["span"]
    assert verdict(bare) == "nothing found: prepare accepts this log"


def test_pictures_hold_their_numbers() -> None:
    heat = heat_svg([0] * 167 + [5], "w")
    assert "Sunday 23:00 to 00:00: 5 events" in heat
    assert heat.count('fill-opacity="1.000"') == 1
    area = area_svg([4, 2, 0, 4], [(2, 1)], "v")
    assert 'd="M0,1V0.0000V0.0000H1V0.5000H2V1.0000H3V0.0000H4V1Z"' in area
    assert '<rect class="silence" x="2"' in area


PROBE = """
<script>
const faults = [];
addEventListener("error", (event) => faults.push(event.message));
addEventListener("load", () => {
  const frame = document.querySelector("iframe"), page = frame.contentDocument.documentElement;
  const wide = [...frame.contentDocument.querySelectorAll("body *")].filter(
    (each) => each.getBoundingClientRect().right > WIDTH + 0.5);
  document.title = JSON.stringify([page.scrollWidth - page.clientWidth, wide.length, faults,
    frame.contentDocument.querySelectorAll("svg rect").length]);
});
</script>
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_without_scrolling_sideways(
    found: Diagnosis, width: int, tmp_path: Path, chromium: Callable[[Path], str]
) -> None:
    page, holder = tmp_path / "page.html", tmp_path / "holder.html"
    inner = inspection_html(found)
    page.write_text(inner, encoding="utf-8")
    quoted = inner.replace("&", "&amp;").replace('"', "&quot;")
    frame = f'<iframe srcdoc="{quoted}" style="width:{width}px;height:3000px;border:0"></iframe>'
    holder.write_text(
        f"<!doctype html><meta charset=utf-8>{PROBE.replace('WIDTH', str(width))}{frame}", encoding="utf-8"
    )
    title = re.search(r"<title>(\[.*?\])</title>", chromium(holder))
    assert title is not None
    beyond, too_wide, faults, cells = json.loads(title[1])
    assert (beyond, too_wide, faults) == (0, 0, [])
    assert cells > 2 * 168
    assert 'class="heat"' in chromium(page)


@pytest.fixture
def chromium(tmp_path: Path) -> Callable[[Path], str]:
    """Open a page, refuse what its console complains of, and give what became of it."""

    def opened(page: Path) -> str:
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
        command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000"]
        done = subprocess.run(
            [*command, "--dump-dom", str(page)], capture_output=True, text=True, timeout=120, check=True
        )
        complaints = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        assert not complaints
        return done.stdout

    return opened
