"""Remote: a file that somebody publishes, and where its copy lies in the cache."""

import os
from dataclasses import dataclass
from pathlib import Path

__all__ = []


@dataclass(frozen=True)
class Remote:
    """A published file.

    Attributes:
        name: Path of its copy below the cache folder, for instance ``"movielens_1m/ml-1m.zip"``.
        page: Page on which people find it.
        url: Address of the file itself; ``None`` where a program cannot fetch it.
        checksum: As published, for instance ``"md5:c4d9..."``; ``None`` where the publisher gives none: the
            SHA-256 of the first complete copy is then recorded beside it, and a later copy must equal it.
        begins: First bytes of every such file, so that no error page is taken for it.
    """

    name: str
    page: str
    url: str | None
    checksum: str | None
    begins: bytes

    @property
    def path(self) -> Path:
        """Where its copy lies, or shall be put by hand."""
        return cache_folder() / self.name


def cache_folder() -> Path:
    """Folder of downloads: ``$ROTA_CACHE``, else ``rota`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``."""
    chosen = os.environ.get("ROTA_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rota"
