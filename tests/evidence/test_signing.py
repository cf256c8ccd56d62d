"""Signed packs: the signature is checked, and a key can be required."""

import base64
import json
import sys

import pytest
from tests.evidence.packs import packed

import shoal
from shoal.evidence import verify
from shoal.evidence.pack import SigningKey


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


@pytest.mark.parametrize(
    ("secret", "public", "message", "signature"),
    [  # RFC 8032, section 7.1, tests 1 to 3
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39"
            "701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f36"
            "13d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7"
            "60984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ],
)
def test_signatures_are_the_published_ones(secret, public, message, signature, tmp_path):
    """The octets before the secret are the PKCS 8 wrapping of RFC 8410."""
    pytest.importorskip("cryptography")
    wrapped = bytes.fromhex("302e020100300506032b657004220420" + secret)
    lines = base64.encodebytes(wrapped).decode()
    path = tmp_path / "key.pem"
    path.write_text(f"-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\n")
    read = SigningKey.read(path)
    made = json.loads(read.sign(bytes.fromhex(message)))
    assert read.public.hex() == public
    assert base64.b64decode(made["public_key"]).hex() == public
    assert base64.b64decode(made["signature"]).hex() == signature


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
    from shoal.evidence.pack import SigningKey

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
