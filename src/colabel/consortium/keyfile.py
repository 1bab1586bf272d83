"""A site's identity on its own disk, readable by its owner alone."""

import base64
import binascii
import os
import stat
from pathlib import Path

from colabel.crypto.identity import Identity
from colabel.errors import InputError, Problem

_HEADER = "colabel secret key, keep it to yourself: "


def create_key(path: Path) -> Identity:
    """A new identity, written with mode 0600. An existing file is never touched."""
    identity = Identity.new()
    line = _HEADER + base64.b64encode(identity.secret_bytes()).decode() + "\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        what = f"there is a file {path} already, and a lost key cannot be brought back"
        raise InputError(Problem(what, "Choose another name, or move the file away.")) from None
    except FileNotFoundError:
        what = f"the folder {path.parent} does not exist"
        raise InputError(Problem(what, "Create it first.")) from None
    with os.fdopen(handle, "w") as stream:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())
    return identity


def read_key(path: Path) -> Identity:
    """The identity in a file; refused if others may read it."""
    if not path.is_file():
        fix = "Make one with: colabel site init NAME."
        raise InputError(Problem(f"there is no key file {path}", fix))
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        fix = f"Run chmod 600 {path}, and think about who has read it."
        raise InputError(Problem(f"others may read the secret key {path}", fix))
    try:
        before, header, line = path.read_text("ascii").partition(_HEADER)
        if before or not header:
            raise ValueError("no header")
        return Identity(base64.b64decode(line.strip(), validate=True))
    except (ValueError, binascii.Error, UnicodeDecodeError):
        fix = "Restore it from a backup, or make a new one with: colabel site init NAME."
        raise InputError(Problem(f"{path} is not a key file, or was cut", fix)) from None
