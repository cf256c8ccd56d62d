"""Handing things to other processes: one unnamed file, mapped by all, copied by none.

The arrays of a table come out of it as they went in, immutable, and without a copy.
"""

from __future__ import annotations

import io
import mmap
import pickle
from typing import IO, Any

from shoal.errors import InputError

_ALIGNED = 64  # bytes; kernels want arrays to begin at round addresses
_HEAD = 8  # bytes that hold the length of the list of parts


def pack(thing: Any, file: IO[bytes]) -> None:
    """Write a thing to a file."""
    buffers: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    try:
        _Pickler(body, protocol=5, buffer_callback=buffers.append).dump(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise _not_importable() from None
    parts = [body.getbuffer(), *(buffer.raw() for buffer in buffers)]
    spans, place = [], 0
    for part in parts:
        spans.append((place, place + part.nbytes))
        place += -(-part.nbytes // _ALIGNED) * _ALIGNED
    index = pickle.dumps(spans)
    file.write(len(index).to_bytes(_HEAD, "little") + index)
    begin = _begin(len(index))
    for (start, _), part in zip(spans, parts, strict=True):
        file.seek(begin + start)
        file.write(part)
    file.truncate(begin + max(place, 1))
    file.flush()


def unpack(descriptor: int) -> Any:
    """Return the thing that a file descriptor's file holds; its arrays stay in the file."""
    whole = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(whole[:_HEAD], "little")
    begin = _begin(length)
    spans = pickle.loads(whole[_HEAD : _HEAD + length])
    body, *buffers = [whole[begin + start : begin + stop] for start, stop in spans]
    return pickle.loads(body, buffers=buffers)


def _begin(length: int) -> int:
    return -(-(_HEAD + length) // _ALIGNED) * _ALIGNED


class _Pickler(pickle.Pickler):
    """Refuses what only the running script knows: another process could not import it."""

    def reducer_override(self, thing: Any) -> Any:
        """Look at functions and classes; everything goes the usual way."""
        if hasattr(thing, "__qualname__") and thing.__module__ == "__main__":
            raise _not_importable()
        return NotImplemented


def _not_importable() -> InputError:
    return InputError(
        "a method, model or measure cannot be handed to another process; "
        "define it at the top of a module of its own and import it"
    )
