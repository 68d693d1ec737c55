"""The Foursquare check-ins of TSMC 2014: one archive with a file for each of two cities."""

import ibis
import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns
from rota.data.downloads.fetching import fetch
from rota.data.downloads.remote import Remote
from rota.data.downloads.unpacking import unpacked
from rota.data.formats.text import Layout
from rota.data.sources._published import number, read_published, understood

PAGE = "https://sites.google.com/site/yangdingqi/home/foursquare-dataset"
LICENCE = "none stated by the publisher: research, with citation"
CITATION = (
    "Yang, Zhang, Zheng and Yu, Modeling User Activity Preference by Leveraging User Spatial Temporal "
    "Characteristics in LBSNs, IEEE Transactions on Systems, Man, and Cybernetics: Systems 45(1), 2015"
)
COLUMNS = Columns(user="user_id", item="venue_id", time="utc_time", offset="offset_minutes")
ARCHIVE = Remote(
    name="foursquare/dataset_tsmc2014.zip",
    page=PAGE,
    url="https://www-public.imtbs-tsp.eu/~zhang_da/pub/dataset_tsmc2014.zip",
    checksum=None,
    begins=b"PK\x03\x04",
)
_NAMES = [
    "user_id", "venue_id", "category_id", "category", "latitude", "longitude", "offset_minutes", "utc_time",
]  # fmt: skip
_NUMBERS = {"user_id": "int64", "latitude": "float64", "longitude": "float64", "offset_minutes": "int64"}
_FORM = r"^[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} \+0000 [0-9]{4}$"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def check_ins(connection: Backend, member: str) -> ir.Table:
    """Check-ins of a city: the eight published columns, ``utc_time`` as seconds since 1970, and ``ROW``.

    Raises:
        InputError: The archive cannot be had, or is not as published.
    """
    path = unpacked(*fetch(ARCHIVE), member)
    raw = read_published(connection, path, Layout("\t", quote="", encoding="latin-1", titled=False), _NAMES)
    meanings: dict[str, ir.Value] = {name: number(raw[name], kind) for name, kind in _NUMBERS.items()}
    return understood(raw, path, {**meanings, "utc_time": seconds_of(raw["utc_time"])})


def seconds_of(text: ir.StringValue) -> ir.IntegerValue:
    """Seconds since 1970 of texts like ``Tue Apr 03 18:00:09 +0000 2012``; null where a text is none.

    The date is put into ISO 8601, which the database checks; no number passes through floating point but
    whole seconds, which float64 holds.
    """
    month = text.substr(4, 3).cases(*((name, f"{k:02d}") for k, name in enumerate(_MONTHS, 1)), else_=None)
    iso = text.substr(26, 4) + "-" + month + "-" + text.substr(8, 2) + " " + text.substr(11, 8)
    written = text.re_search(_FORM)
    return ibis.ifelse(written, iso, ibis.null("string")).try_cast("timestamp").epoch_seconds().cast("int64")
