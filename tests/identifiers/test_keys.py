"""Keys: random, private, and never shown."""

import pickle
import stat
import sys

import pytest

from shoal.errors import InputError, OutputError
from shoal.identifiers import Key
from shoal.identifiers.keys import hkdf

SECRET = bytes(range(32))


def saved(folder, content, mode=0o600):
    path = folder / "key.bin"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("secret", "salt", "info", "length", "expected"),
    [  # RFC 5869, test cases 1 to 3
        (
            b"\x0b" * 22,
            bytes(range(13)),
            bytes(range(0xF0, 0xFA)),
            42,
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        ),
        (
            bytes(range(0x50)),
            bytes(range(0x60, 0xB0)),
            bytes(range(0xB0, 0x100)),
            82,
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
            "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87",
        ),
        (
            b"\x0b" * 22,
            b"",
            b"",
            42,
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        ),
    ],
)
def test_hkdf_gives_the_published_answers(secret, salt, info, length, expected):
    assert hkdf(secret, info, salt, length).hex() == expected


def test_a_new_key_is_private_and_never_overwritten(tmp_path):
    path = tmp_path / "key.bin"
    key = Key.new()
    key.write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Key.read(path).fingerprint == key.fingerprint
    with pytest.raises(OutputError, match="exists already"):
        Key.new().write(path)


def test_two_new_keys_differ():
    assert Key.new().fingerprint != Key.new().fingerprint


def test_bytes_hexadecimal_and_base64_are_the_same_key(tmp_path, monkeypatch):
    import base64

    forms = [SECRET, SECRET.hex().encode() + b"\n", base64.urlsafe_b64encode(SECRET)]
    found = {Key.read(saved(tmp_path, form)).fingerprint for form in forms}
    monkeypatch.setenv("THE_KEY", SECRET.hex())
    found.add(Key.from_environment("THE_KEY").fingerprint)
    program = f"import sys; sys.stdout.write('{SECRET.hex()}')"
    found.add(Key.from_command([sys.executable, "-c", program]).fingerprint)
    assert found == {Key(SECRET).fingerprint}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"correct horse battery staple!", "passphrase"),
        (b"\x00" * 32, "not random"),
        (SECRET[:31], "at least 32 bytes"),
        (b"abcd", "at least 32 bytes"),
    ],
)
def test_what_is_not_a_key_is_refused_without_showing_it(tmp_path, content, said):
    with pytest.raises(InputError, match=said) as caught:
        Key.read(saved(tmp_path, content))
    assert content.decode("latin-1") not in str(caught.value)


def test_a_key_that_others_can_read_is_refused(tmp_path):
    with pytest.raises(InputError, match="chmod 600"):
        Key.read(saved(tmp_path, SECRET, 0o640))


def test_a_failing_command_is_named_without_its_output():
    program = f"import sys; print('{SECRET.hex()}'); sys.exit(3)"
    with pytest.raises(InputError, match="exit status 3") as caught:
        Key.from_command([sys.executable, "-c", program])
    assert SECRET.hex() not in str(caught.value)
    with pytest.raises(InputError, match="cannot be run"):
        Key.from_command(["/no/such/program"])
    with pytest.raises(InputError, match="no variable"):
        Key.from_environment("NO_SUCH_VARIABLE")


def test_a_key_shows_no_byte_of_itself_and_is_not_pickled():
    key = Key(SECRET)
    assert repr(key) == str(key) == "Key(256 bits)"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)


def test_purposes_and_contexts_give_unrelated_keys():
    key = Key(SECRET)
    found = [key.derive("a", "b"), key.derive("ab"), key.derive("a", "b", ""), key.derive("b", "a")]
    assert len(set(found)) == 4
