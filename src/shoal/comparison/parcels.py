"""Share objects with other processes through one unnamed, memory-mapped file.

The arrays of a table are immutable and are not copied.
"""

from __future__ import annotations

import io
import mmap
import pickle
from typing import IO, Any

from shoal.errors import InputError

_ALIGNMENT = 64  # bytes; kernels need aligned arrays
_HEAD = 8  # bytes of the length of the index


def pack(thing: Any, file: IO[bytes]) -> None:
    """Write an object to a file."""
    buffers: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    try:
        _Pickler(body, protocol=5, buffer_callback=buffers.append).dump(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise _not_importable() from None
    parts = [body.getbuffer(), *(buffer.raw() for buffer in buffers)]
    spans, offset = [], 0
    for part in parts:
        spans.append((offset, offset + part.nbytes))
        offset += -(-part.nbytes // _ALIGNMENT) * _ALIGNMENT
    index = pickle.dumps(spans)
    file.write(len(index).to_bytes(_HEAD, "little") + index)
    begin = _begin(len(index))
    for (start, _), part in zip(spans, parts, strict=True):
        file.seek(begin + start)
        file.write(part)
    file.truncate(begin + max(offset, 1))
    file.flush()


def unpack(descriptor: int) -> Any:
    """Return the object in the file of a descriptor; its arrays stay in the file."""
    content = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(content[:_HEAD], "little")
    begin = _begin(length)
    spans = pickle.loads(content[_HEAD : _HEAD + length])
    body, *buffers = [content[begin + start : begin + stop] for start, stop in spans]
    return pickle.loads(body, buffers=buffers)


def is_importable(thing: Any) -> bool:
    """Return whether other processes can import a function or class: not the running script's."""
    return bool(thing.__module__ != "__main__")


def _begin(length: int) -> int:
    return -(-(_HEAD + length) // _ALIGNMENT) * _ALIGNMENT


class _Pickler(pickle.Pickler):
    """Refuses functions and classes of the running script, which other processes cannot import."""

    def reducer_override(self, thing: Any) -> Any:
        """Raise an error for objects of the running script; pickle all others as usual."""
        if hasattr(thing, "__qualname__") and not is_importable(thing):
            raise _not_importable()
        return NotImplemented


def _not_importable() -> InputError:
    return InputError(
        "a method, model or measure cannot be sent to another process; "
        "define it at the top level of an importable module"
    )
