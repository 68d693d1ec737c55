"""One member of a zip archive, unpacked once beside it."""

import shutil
import zipfile
import zlib
from pathlib import Path

from rota.errors import InputError
from rota.files import written_whole

__all__ = []


def unpacked(archive: Path, checksum: str, member: str) -> Path:
    """A member as a file of its own.

    Args:
        archive: A zip archive.
        checksum: The archive's, ``"algorithm:digest"``: it names the file, so a new archive is unpacked anew.
        member: Name of the file in the archive, without folders.

    Returns:
        Path of the unpacked file, which has its name only when it is complete.

    Raises:
        InputError: The archive is damaged or lacks the member, or the file cannot be written.
    """
    path = archive.with_name(f"{checksum.partition(':')[2][:16]}-{member}")
    try:
        with zipfile.ZipFile(archive) as content:
            found = [info for info in content.infolist() if info.filename.rpartition("/")[2] == member]
            if len(found) != 1:
                held = ", ".join(content.namelist()[:10])
                raise InputError(f"{archive}: expected one file {member} in it; it has {held}")
            if not (path.exists() and path.stat().st_size == found[0].file_size):
                with written_whole(path) as part, content.open(found[0]) as source, part.open("wb") as target:
                    shutil.copyfileobj(source, target, 2**20)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{archive}: cannot be unpacked: {error}: if it is damaged, delete it and get it anew; if the "
            "disk is full, make room"
        ) from error
    return path
