"""Tiny files in official formats, byte by byte, written without the readers' code."""

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def put(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cifar_record(labels: Sequence[int], image: np.ndarray) -> bytes:
    """Labels, then all red, all green, all blue, row by row."""
    return bytes(labels) + b"".join(
        bytes(int(image[row, column, colour]) for row in range(32) for column in range(32))
        for colour in range(3)
    )


def stl_image(image: np.ndarray) -> bytes:
    """All red, all green, all blue, column by column."""
    return b"".join(
        bytes(int(image[row, column, colour]) for column in range(96) for row in range(96))
        for colour in range(3)
    )


def idx(array: np.ndarray, kind: int = 8) -> bytes:
    head = bytes([0, 0, kind, array.ndim]) + b"".join(struct.pack(">I", n) for n in array.shape)
    letter = {8: "B", 12: "i"}[kind]
    return head + b"".join(struct.pack(f">{letter}", int(v)) for v in array.ravel())


def mat(images: np.ndarray, labels: Sequence[int]) -> bytes:
    """MATLAB 5: X (32, 32, 3, n) and y (n, 1) of bytes, compressed, in column-major order."""
    head = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + struct.pack("<H", 0x0100) + b"IM"
    y = np.array(labels, np.uint8).reshape(-1, 1)
    return head + _matrix("X", images.transpose(1, 2, 3, 0)) + _matrix("y", y)


def _matrix(name: str, values: np.ndarray) -> bytes:
    class_of_bytes = 9
    body = (
        _element(6, struct.pack("<II", class_of_bytes, 0))
        + _element(5, struct.pack(f"<{values.ndim}i", *values.shape))
        + _element(1, name.encode())
        + _element(2, values.tobytes(order="F"))
    )
    packed = zlib.compress(struct.pack("<II", 14, len(body)) + body)
    return struct.pack("<II", 15, len(packed)) + packed


def _element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def leaf(writers: dict[str, tuple[np.ndarray, Sequence[int]]]) -> str:
    """LEAF divides bytes by 255 and flattens."""
    return json.dumps(
        {
            "users": list(writers),
            "num_samples": [len(y) for _, y in writers.values()],
            "user_data": {
                name: {"x": [(image / 255).ravel().tolist() for image in x], "y": list(y)}
                for name, (x, y) in writers.items()
            },
        }
    )


def png(rows: np.ndarray) -> bytes:
    """A grey (H, W) or colour (H, W, 3) image, lossless."""
    kind = 0 if rows.ndim == 2 else 2
    height, width = rows.shape[:2]
    lines = b"".join(b"\0" + row.astype(np.uint8).tobytes() for row in rows)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
        for tag, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
            (b"IDAT", zlib.compress(lines)),
            (b"IEND", b""),
        )
    )
