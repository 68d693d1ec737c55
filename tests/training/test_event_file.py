"""Event files: checksums by the standard's check value, and records read back by a parser of our own."""

import struct
from pathlib import Path

import pytest

from rota.training.event_file import EventFile, checksum


def test_the_checksum_is_the_standards() -> None:
    assert checksum(b"123456789") == 0xE3069283  # CRC-32C, RFC 3720
    assert checksum(bytes(32)) == 0x8A9136AA


def unmasked(crc: int) -> int:
    crc = (crc - 0xA282EAD8) & 0xFFFFFFFF
    return (crc << 15 | crc >> 17) & 0xFFFFFFFF


def records(data: bytes) -> list[bytes]:
    found = []
    while data:
        (length,), (crc,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        content, after = data[12 : 12 + length], data[12 + length : 16 + length]
        assert unmasked(crc) == checksum(data[:8])
        assert unmasked(struct.unpack("<I", after)[0]) == checksum(content)
        found.append(content)
        data = data[16 + length :]
    return found


def fields(data: bytes) -> list[tuple[int, object]]:
    """Numbers and contents of a protobuf message's fields."""
    found: list[tuple[int, object]] = []

    def varint() -> int:
        nonlocal data
        value = shift = 0
        while True:
            byte, data = data[0], data[1:]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while data:
        number, kind = divmod(varint(), 8)
        if kind == 0:
            found.append((number, varint()))
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        found.append((number, data[:size]))
        data = data[size:]
    return found


def test_scalars_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.x"
    file = EventFile(path)
    file.add(3, {"loss": 0.5, "validation": 0.25})
    file.add(300, {"loss": -1.5})
    head, one, two = (dict(fields(record)) for record in records(path.read_bytes()))
    assert head[3] == b"brain.Event:2"
    assert (one[2], two[2]) == (3, 300)
    values = [dict(fields(value)) for _, value in fields(one[5])]  # type: ignore[arg-type]
    told = {value[1]: struct.unpack("<f", value[2])[0] for value in values}  # type: ignore[arg-type]
    assert told == {b"loss": 0.5, b"validation": 0.25}
    assert struct.unpack("<d", one[1])[0] == pytest.approx(struct.unpack("<d", head[1])[0], abs=60)  # type: ignore[arg-type]
