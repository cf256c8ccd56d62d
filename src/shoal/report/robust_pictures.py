"""Pictures of adversarial examples: original, perturbation and adversarial picture side by side."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import OutputError
from shoal.support.arrays import Bools
from shoal.support.files import check_writable, replace_file

ENDINGS = (".png", ".html")
_GAP = 2  # pixels between pictures, before they are enlarged


def check_ending(path: Path, *, force: bool) -> None:
    """Raise an error before any work if the picture could not be saved."""
    if path.suffix not in ENDINGS:
        raise OutputError(f"{path}: the name of a picture must end in {' or '.join(ENDINGS)}")
    check_writable(path, force=force)


def worth_showing(samples: Any, sizes: Any, fooled: Bools, most: int) -> list[int]:
    """Return the indices of changed examples, about half of which fooled the vote, those first.

    Within each half, the smallest change of every picture comes before the second of any picture.
    """
    halves = []
    for those in (fooled, ~fooled):
        places = np.flatnonzero(those & (sizes > 0))
        places = places[np.argsort(sizes[places], kind="stable")]
        seen: Counter[int] = Counter()
        turns = []
        for sample in samples[places].tolist():
            turns.append(seen[sample])
            seen[sample] += 1
        halves.append(places[np.argsort(turns, kind="stable")].tolist())
    first, second = halves
    shown = first[: max(most - len(second), (most + 1) // 2)]
    return [*shown, *second[: most - len(shown)]]


def triptychs(originals: Any, adversarial: Any) -> Any:
    """Return (rows, height, width, channels) bytes: original, perturbation, adversarial.

    In the perturbation, grey means no change; its contrast is stretched for each example.
    """
    change = adversarial - originals
    most = np.maximum(np.abs(change).max(axis=(1, 2, 3), keepdims=True), 1e-12)
    gap = np.ones((*originals.shape[:3], _GAP), dtype=originals.dtype)
    joined = np.concatenate([originals, gap, 0.5 + change / (2 * most), gap, adversarial], axis=3)
    return np.rint(joined * 255).clip(0, 255).astype(np.uint8).transpose(0, 2, 3, 1)


def write_pictures(
    path: Path, pictures: Any, captions: list[str], *, zoom: int, force: bool
) -> None:
    """Write all rows as one picture (.png), or as a page with a caption for each (.html)."""
    enlarged = pictures.repeat(zoom, axis=1).repeat(zoom, axis=2)
    if path.suffix == ".png":
        gap = np.full((len(enlarged), _GAP * zoom, *enlarged.shape[2:]), 255, dtype=np.uint8)
        below = np.concatenate([enlarged, gap], axis=1)
        content = png(below.reshape(-1, *below.shape[2:]))
    else:
        content = _page(enlarged, captions).encode()
    with replace_file(path, force=force) as temporary:
        temporary.write_bytes(content)


def png(pixels: Any) -> bytes:
    """Return (height, width, 1 or 3) bytes as a PNG file."""
    height, width, channels = pixels.shape
    if channels not in (1, 3):
        raise OutputError(f"pictures must have 1 or 3 channels to be shown, not {channels}")
    lines = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # each begins with its filter
    lines[:, 1:] = pixels.reshape(height, -1)
    colour = 0 if channels == 1 else 2
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    parts = {b"IHDR": head, b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts.items()
    )


def address(pixels: Any) -> str:
    """Return (height, width, 1 or 3) bytes as a data URL."""
    return f"data:image/png;base64,{b64encode(png(pixels)).decode()}"


def _page(pictures: Any, captions: list[str]) -> str:
    figures = "\n".join(
        f'<figure><img alt="" src="{address(each)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
        for each, caption in zip(pictures, captions, strict=True)
    )
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Adversarial examples'
        "</title>\n<style>body{font-family:sans-serif;display:flex;flex-wrap:wrap}</style>\n"
        f"<h1>Original, perturbation, adversarial</h1>\n{figures}\n</html>\n"
    )
