"""A site's key file: written once, for its owner's eyes, and read back whole or not at all."""

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.consortium import create_key, read_key
from colabel.errors import InputError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.key"


def test_what_is_written_is_read_back(path):
    made, found = create_key(path), read_key(path)
    assert found.public == made.public
    assert found.secret_bytes() == made.secret_bytes()
    assert made.public.signed(b"x", found.sign(b"x"))
    assert path.read_text().startswith("colabel secret key, keep it to yourself: ")
    assert path.read_text().endswith("\n")


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_nobody_else_may_read_it_whatever_the_mask(path, mask):
    before = os.umask(mask)
    try:
        create_key(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_keys_differ(path):
    assert create_key(path).public != create_key(path.with_name("other.key")).public


@pytest.mark.parametrize("there", ["key", "empty", "text", "folder", "link", "dangling link"])
def test_nothing_is_ever_overwritten(path, there):
    other = path.with_name("other")
    if there == "key":
        create_key(path)
    elif there in ("empty", "text"):
        path.write_text("" if there == "empty" else "mine")
    elif there == "folder":
        path.mkdir()
    else:
        path.symlink_to(other)
        if there == "link":
            other.write_text("mine")
    content = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError, match=r"there is a file .*clinic.key already") as refusal:
        create_key(path)
    assert refusal.value.problems[0].fix
    assert (path.read_bytes() if path.is_file() else None) == content
    assert other.exists() == (there == "link")


def test_a_folder_that_is_not_there_is_named(path):
    with pytest.raises(InputError, match=r"the folder .*/nowhere does not exist. Create it first"):
        create_key(path.parent / "nowhere" / "clinic.key")


@pytest.mark.parametrize("made", ["nothing", "folder"])
def test_no_key_file(path, made):
    if made == "folder":
        path.mkdir()
    with pytest.raises(InputError, match=r"there is no key file .* colabel site init NAME"):
        read_key(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610, 0o601, 0o777])
def test_a_key_that_others_may_read_is_refused(path, mode):
    create_key(path)
    path.chmod(mode)
    with pytest.raises(InputError, match=r"others may read the secret key .* chmod 600"):
        read_key(path)
    path.chmod(0o400)
    read_key(path)


def write(path, data):
    path.touch(0o600)
    path.write_bytes(data)


def refused(path):
    with pytest.raises(InputError, match=r"is not a key file, or was cut. Restore it") as refusal:
        read_key(path)
    return str(refusal.value)


def test_every_cut_is_noticed(path):
    create_key(path)
    whole = path.read_bytes()
    for length in range(len(whole) - 1):  # without the last line's end it is whole
        write(path, whole[:length])
        refused(path)
        write(path, whole[length + 1 :])
        refused(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data + data,
        lambda data: data.split(b": ")[1],
        lambda data: b"# mine\n" + data,
        lambda data: data.replace(b"secret", b"public"),
        lambda data: data[:-3] + b"!=\n",
        lambda data: data[:-6] + b"\xff" + data[-5:],
        lambda data: data.strip() + b" and more\n",
        lambda data: base64.b64encode(bytes(32)),
    ],
    ids=["empty", "twice", "no header", "before", "header", "character", "byte", "after", "other"],
)
def test_damage_is_noticed_and_the_key_not_shown(path, change):
    create_key(path)
    whole = path.read_bytes()
    write(path, change(whole))
    assert whole.split(b": ")[1][:20].decode() not in refused(path)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120))
def test_any_bytes_are_no_key_file(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.key"
    write(path, data)
    refused(path)
