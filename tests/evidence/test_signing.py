"""Signed packs: the signature is checked, and a key can be required."""

import base64
import json
import sys

import pytest
from tests.evidence.packs import packed

import shoal
from shoal.evidence import verify


@pytest.fixture
def key(tmp_path):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    text = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    (tmp_path / "key.pem").write_bytes(text)
    return tmp_path / "key.pem"


def fingerprint(pack):
    return json.loads((pack / "manifest.json").read_bytes())["key"]


def test_a_signed_pack_verifies_and_a_changed_signature_does_not(key, tmp_path, capsys):
    pack = packed(tmp_path, sign_key=key)
    assert verify.main([str(pack), "--key", fingerprint(pack)]) == 0
    assert "signature: valid" in capsys.readouterr().out
    signature = json.loads((pack / "signature.json").read_bytes())
    raw = bytearray(base64.b64decode(signature["signature"]))
    raw[0] ^= 1
    signature["signature"] = base64.b64encode(bytes(raw)).decode()
    (pack / "signature.json").write_bytes(verify.canonical(signature))
    assert verify.main([str(pack)]) == 1
    assert "does not match the manifest" in capsys.readouterr().out


def test_a_missing_signature_and_another_key_are_found(key, tmp_path, capsys):
    pack = packed(tmp_path, sign_key=key)
    assert verify.main([str(pack), "--key", "0" * 64]) == 1
    assert "another key" in capsys.readouterr().out
    (pack / "signature.json").unlink()
    assert verify.main([str(pack)]) == 1
    assert "signature.json: is missing" in capsys.readouterr().out


def test_without_cryptography_the_verifier_states_that_it_did_not_check(
    key, tmp_path, capsys, monkeypatch
):
    pack = packed(tmp_path, sign_key=key)
    for name in [n for n in sys.modules if n.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert verify.main([str(pack)]) == 0
    assert "signature: NOT CHECKED" in capsys.readouterr().out
    assert verify.main([str(pack), "--key", fingerprint(pack)]) == 1


def test_the_private_key_is_in_no_file_and_no_repr(key, tmp_path):
    from shoal.evidence.signing import SigningKey

    pack = packed(tmp_path, sign_key=key)
    secret = key.read_text().splitlines()[1]
    assert not [f.name for f in pack.iterdir() if secret in f.read_text(encoding="utf-8")]
    assert repr(SigningKey.read(key)) == f"SigningKey({fingerprint(pack)})"


def test_a_file_that_is_no_key_is_refused(tmp_path):
    pytest.importorskip("cryptography")
    (tmp_path / "key.pem").write_text("a poem")
    with pytest.raises(shoal.InputError, match="not an unencrypted Ed25519 private key"):
        packed(tmp_path, sign_key=tmp_path / "key.pem")
    assert not (tmp_path / "pack").exists()


def test_an_unsigned_pack_does_not_pass_for_a_signed_one(tmp_path, capsys):
    pack = packed(tmp_path)
    assert verify.main([str(pack), "--key", "0" * 64]) == 1
    assert "not signed" in capsys.readouterr().out
    (pack / "signature.json").write_bytes(verify.canonical({"signature": ""}))
    assert verify.main([str(pack)]) == 1


def test_signing_without_cryptography_names_the_extra(tmp_path, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    (tmp_path / "key.pem").write_text("a key")
    with pytest.raises(shoal.MissingExtra, match=r"shoal-privacy\[evidence\]"):
        packed(tmp_path, sign_key=tmp_path / "key.pem")
