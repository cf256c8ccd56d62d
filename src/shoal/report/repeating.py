"""How a release was made, so that others can reproduce it and recognize the file.

A digest of the original table is not given: for a small table it could be used to check guesses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.anonymize import METHODS
from shoal.core.release import Release
from shoal.support.addresses import address_of
from shoal.support.files import check_readable
from shoal.support.object_stores import stored_digests
from shoal.support.outputs import written_at
from shoal.support.plain_data import plain

_CHUNK_BYTES = 1 << 20


def repeating(
    release: Release, command: str | None, released: Path | None, *, order: str
) -> dict[str, Any]:
    """Return method, options, versions, the command, and a digest of the released file.

    order: how the rows were written.
    """
    run, proof = release.run, release.proof
    options = {name: plain(value) for name, value in run.options.items()}
    return {
        "command": command,
        "call": _call(release, options, run.seed) if run.method in METHODS else None,
        "method": run.method,
        "options": options,
        "seed": run.seed,
        "order": order,
        "identifiers": {name: dict(each.record) for name, each in release.replaced.items()},
        "levels": None if release.node is None else dict(release.node),
        "evaluated": release.evaluated,
        "gap": None if proof is None else round(proof.gap, 4),
        "distance": None if proof is None else proof.describe(),
        "notes": list(run.notes),
        "versions": dict(run.versions),
        "file": None if released is None else digest(released),
    }


def digest(path: Path) -> dict[str, Any]:
    """Return a file's name, size and SHA-256; of a folder, those of its files in order of name."""
    address, place = address_of(path), written_at(path)
    if address is not None or place.is_dir():
        inside = _inside(place, address)
        if [each["name"] for each in inside] == [path.name]:  # one file at an address
            return inside[0]
        listed = "".join(f"{each['sha256']}  {each['name']}\n" for each in inside)
        together = hashlib.sha256(listed.encode()).hexdigest()
        return {"name": path.name, "bytes": sum(f["bytes"] for f in inside), "sha256": together}
    check_readable(place)
    sha256 = hashlib.sha256()
    with place.open("rb") as handle:
        while chunk := handle.read(_CHUNK_BYTES):
            sha256.update(chunk)
    return {"name": path.name, "bytes": place.stat().st_size, "sha256": sha256.hexdigest()}


def _inside(path: Path, address: str | None) -> list[dict[str, Any]]:
    """Return the digests of the files in a folder, or at an address."""
    if address is None:
        return [digest(file) for file in sorted(path.iterdir())]
    names = ("name", "bytes", "sha256")
    return [dict(zip(names, each, strict=True)) for each in stored_digests(address)]


def _call(release: Release, options: Mapping[str, Any], seed: int | None) -> str:
    """Return the Python call that makes the release."""
    model = " & ".join(repr(part) for part in release.model.parts)
    arguments = ["table", model, repr(release.run.method)]
    arguments += [f"{name}={value!r}" for name, value in options.items() if name != "seed"]
    arguments += [] if seed is None else [f"seed={seed}"]
    return f"shoal.anonymize({', '.join(arguments)})"
