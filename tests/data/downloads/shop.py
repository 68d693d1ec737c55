"""A small HTTP server on this machine that misbehaves as asked: what downloads are tested against."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Shop:
    """A file on offer.

    Attributes:
        content: The file.
        cuts: Bytes after which each connection breaks off, one after the other; then none does.
        tag: Its ETag; empty for none.
        modified: Its Last-Modified; empty for none.
        ranges: It honours ``Range``.
        shift: Bytes by which a range begins too early.
        sized: It tells the length.
        status: What it answers instead of the file.
        asked: Range of each request.
    """

    content: bytes
    cuts: list[int] = field(default_factory=list)
    tag: str = '"one"'
    modified: str = ""
    ranges: bool = True
    shift: int = 0
    sized: bool = True
    status: int = 200
    asked: list[str | None] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def open(self) -> Iterator["Shop"]:
        handler = type("Counter", (_Counter,), {"shop": self})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}/file"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Counter(BaseHTTPRequestHandler):
    shop: Shop

    def do_GET(self) -> None:
        shop, size = self.shop, len(self.shop.content)
        asked = self.headers.get("Range")
        shop.asked.append(asked)
        if shop.status != 200:
            self._answer(shop.status, {"Content-Length": "0"}, b"")
            return
        start = self._start(asked)
        if start is not None and start >= size:
            self._answer(416, {"Content-Range": f"bytes */{size}", "Content-Length": "0"}, b"")
            return
        headers = {"ETag": shop.tag, "Last-Modified": shop.modified}
        if start is not None:
            start -= shop.shift
            headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        body = shop.content[start or 0 :]
        if shop.sized:
            headers["Content-Length"] = str(len(body))
        self._answer(200 if start is None else 206, headers, body[: shop.cuts.pop(0)] if shop.cuts else body)

    def _start(self, asked: str | None) -> int | None:
        if asked is None or not self.shop.ranges:
            return None
        if self.headers.get("If-Range") not in (None, self.shop.tag, self.shop.modified):
            return None
        found = re.fullmatch(r"bytes=(\d+)-", asked)
        return int(found[1]) if found else None

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
