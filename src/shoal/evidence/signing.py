"""Signatures of evidence packs: Ed25519, with the cryptography package."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.evidence.verify import canonical
from shoal.support.extras import requires
from shoal.support.files import check_readable


@dataclass(frozen=True)
class SigningKey:
    """A private Ed25519 key; it is never shown.

    public: the raw public key.
    """

    public: bytes
    _private: Any

    def __repr__(self) -> str:
        return f"SigningKey({self.fingerprint})"

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """Read an unencrypted Ed25519 key from a PEM file, as `openssl genpkey` writes it."""
        check_readable(path)
        with requires("evidence"):
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise InputError(
                f"{path}: is not an unencrypted Ed25519 private key in PEM; create one with "
                "`openssl genpkey -algorithm ed25519 -out FILE`"
            )
        return cls(private.public_key().public_bytes_raw(), private)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key, which a manifest states."""
        return hashlib.sha256(self.public).hexdigest()

    def sign(self, manifest: bytes) -> bytes:
        """Return the content of `signature.json` for a manifest."""
        return canonical(
            {
                "algorithm": "Ed25519",
                "public_key": base64.b64encode(self.public).decode(),
                "signature": base64.b64encode(self._private.sign(manifest)).decode(),
            }
        )
