"""Event file: curves as TensorBoard reads them, without TensorBoard: records with checksums, in protobuf."""

import struct
import time
from collections.abc import Mapping
from pathlib import Path

__all__: list[str] = []

_POLYNOMIAL, _MASK = 0x82F63B78, 0xA282EAD8  # CRC-32C, reflected; TensorFlow's masking of it
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # protobuf's wire types


class EventFile:
    """Scalars by step, appended to a file whose name TensorBoard looks for.

    The format is that of TensorFlow's ``events_writer`` (record: length, its CRC, data, its CRC) and of
    ``event.proto``: ``wall_time = 1``, ``step = 2``, ``file_version = 3``, ``summary = 5`` with values of
    ``tag = 1``, ``simple_value = 2``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        version = _field(3, _BYTES, b"brain.Event:2")
        path.write_bytes(_record(_now() + version))

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Append the values of a step."""
        told = b"".join(
            _field(1, _BYTES, _field(1, _BYTES, tag.encode()) + _field(2, _FIXED32, struct.pack("<f", value)))
            for tag, value in values.items()
        )
        with self.path.open("ab") as file:
            file.write(_record(_now() + _field(2, _VARINT, _varint(step)) + _field(5, _BYTES, told)))


def checksum(data: bytes) -> int:
    """CRC-32C (Castagnoli) of some bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    crc = checksum(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)


def _now() -> bytes:
    return _field(1, _FIXED64, struct.pack("<d", time.time()))


def _field(number: int, kind: int, content: bytes) -> bytes:
    size = _varint(len(content)) if kind == _BYTES else b""
    return _varint(number << 3 | kind) + size + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
