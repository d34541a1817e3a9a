"""The course secret: 32 random bytes that nobody but the instructor may read.

Whoever knows it can compute every student's variant and hidden plan.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from engine.errors import CourseError
from engine.files import read_bounded, replace_text
from engine.plurals import counted

__all__ = ["SECRET_BYTES", "fingerprint_file", "is_known_secret", "make_secret", "read_secret"]

SECRET_BYTES = 32


def make_secret(path: Path) -> None:
    """Write a new secret with mode 0600, and its fingerprint; a secret that is there already stays.

    A fingerprint that is there stays too: another secret in its place is noticed at its first use.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "wb") as file:
        secret = secrets.token_bytes(SECRET_BYTES)
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    is_known_secret(path, secret)  # keeps the fingerprint, so that commands that only read write nothing


def fingerprint_file(path: Path) -> Path:
    """Return where the fingerprint of the secret at `path` is kept."""
    return path.with_name("secret-fingerprint")


def is_known_secret(path: Path, secret: bytes) -> bool:
    """Return whether this is the secret that the course was begun with; its first use keeps a fingerprint.

    The fingerprint tells nothing about the secret. Where it can't be written, every secret is taken.
    """
    expected = hmac.new(secret, b"softmark: fingerprint of the course secret", hashlib.sha256).hexdigest()
    kept = fingerprint_file(path)
    try:
        return hmac.compare_digest(read_bounded(kept, 100).strip(), expected.encode("ascii"))
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            replace_text(kept, expected + "\n", durable=True, private=True)
        return True
    except OSError:
        return False


def read_secret(path: Path) -> bytes:
    """Return the secret.

    Raises
    ------
    CourseError
        It is missing, others may read it, or it isn't 32 bytes long.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(SECRET_BYTES + 1)
    except OSError as error:
        raise CourseError(
            "the course secret can't be read",
            where=str(path),
            got=error.strerror or str(error),
            next_step="restore it from a backup: without it no variant can be drawn again",
        ) from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise CourseError(
            "others may read the course secret",
            where=str(path),
            expected="mode 0600",
            got=f"mode {stat.S_IMODE(mode):04o}",
            next_step=f"chmod 600 {path}; if somebody may have read it, start a new course folder",
        )
    if len(secret) != SECRET_BYTES:
        raise CourseError(
            "the course secret is damaged",
            where=str(path),
            expected=f"{SECRET_BYTES} bytes",
            got="more" if len(secret) > SECRET_BYTES else f"{counted(len(secret), 'byte')}",
            next_step="restore it from a backup: without it no variant can be drawn again",
        )
    return secret
