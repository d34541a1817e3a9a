"""``web.yaml`` in the course folder: how the site is reached, and how people sign in.

The file is optional: without it the site runs on this machine, writes its mails into a folder, and whoever
started it signs in by the link in the terminal. Passwords don't stand in it: it names a file or an
environment variable that has them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, field_validator, model_validator

from engine.errors import CourseError
from engine.items.field_types import Flag, StrictModel, fault_here
from engine.text.yaml import read_yaml, validate

WEB_SETTINGS_FILE = "web.yaml"

_LOCAL = ("localhost", "127.0.0.1", "::1")  # for trying: nothing leaves the machine

Line = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class MailSettings(StrictModel):
    """Where sign-in links go: a mail server, or a folder in which they are written as files, for trying."""

    sender: Line = "softmark@localhost"
    folder: Line | None = None
    host: Line | None = None
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: Line | None = None
    password_file: Line | None = None
    password_variable: Line | None = None

    @model_validator(mode="after")
    def _is_one_way(self) -> Self:
        if (self.folder is None) == (self.host is None):
            raise fault_here("either host, the mail server, or folder is needed")
        if self.user is not None:
            if self.password_file is None and self.password_variable is None:
                raise fault_here("with user, password_file or password_variable is needed")
            if self.security == "none":
                raise fault_here("a password isn't sent without encryption: security is starttls or tls")
        return self

    def password(self, folder: Path) -> str:
        """Return the password; a path in the settings is from the course `folder`.

        Raises
        ------
        CourseError
            It isn't where it should be.
        """
        return (
            secret_text(folder, self.password_file, self.password_variable, "the mail server's password")
            or ""
        )


class OidcSettings(StrictModel):
    """An OpenID Connect provider; `claim` of its tokens is compared with the roster's `field`.

    ``unverified: true`` accepts addresses that the provider hasn't verified: where nobody but the
    institution enters them.
    """

    issuer: Line
    client_id: Line
    name: Line = "Single sign-on"
    secret_file: Line | None = None
    secret_variable: Line | None = None
    claim: Line = "email"
    field: Literal["email", "id", "login"] = "email"
    unverified: bool = False

    @field_validator("issuer")
    @classmethod
    def _is_a_safe_address(cls, issuer: str) -> str:
        host = urlsplit(issuer).hostname
        if not (issuer.startswith("https://") or (issuer.startswith("http://") and host in _LOCAL)):
            raise fault_here("an address such as https://sso.example.edu was expected")
        return issuer

    def secret(self, folder: Path) -> str | None:
        """Return the client secret, None for a public client; a path is from the course `folder`.

        Raises
        ------
        CourseError
            It isn't where it should be.
        """
        return secret_text(
            folder, self.secret_file, self.secret_variable, "the client secret of single sign-on"
        )


class WebSettings(StrictModel):
    """All settings of the site.

    ``address`` is what people type, ``https://marks.example.edu/nlp``: links and cookies depend on it, and a
    path in it is the prefix under which a proxy serves the site. ``proxies`` are the addresses of proxies
    whose ``X-Forwarded-For`` is believed. A session ends after ``session_hours`` without a visit, and after
    ``session_days`` in any case. With ``blind_marking``, markers see codes in place of names on all their
    pages.
    """

    address: Line | None = None
    mail: MailSettings | None = None
    oidc: OidcSettings | None = None
    proxies: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    session_hours: Annotated[int, Field(ge=1, le=24 * 31)] = 12
    blind_marking: Flag = False
    session_days: Annotated[int, Field(ge=1, le=365)] = 14
    most_upload_mib: Annotated[int, Field(ge=1, le=1024)] = 20

    @field_validator("address")
    @classmethod
    def _is_an_address(cls, address: str | None) -> str | None:
        if address is not None and not address.startswith(("http://", "https://")):
            raise fault_here("an address such as https://marks.example.edu was expected")
        return None if address is None else address.rstrip("/")


def secret_text(folder: Path, file: str | None, variable: str | None, noun: str) -> str | None:
    """Return a secret that the settings name a place of; None where they name none.

    Raises
    ------
    CourseError
        There is none at that place.
    """
    if file is not None:
        try:
            return (folder / Path(file).expanduser()).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise CourseError(
                f"{noun} can't be read",
                where=file,
                got=getattr(error, "strerror", None) or "no UTF-8 text",
                next_step="web.yaml names this file: make it, or name another",
            ) from error
    if variable is None:
        return None
    if not os.environ.get(variable):
        raise CourseError(
            f"{noun} is missing",
            where=f"environment variable {variable}",
            next_step="set it where the site is started, or name another in web.yaml",
        )
    return os.environ[variable]


def read_web_settings(folder: Path) -> WebSettings:
    """Return the settings of a course's site; the defaults where there is no file.

    Raises
    ------
    SpecError
        The file has faults; with all of them.
    """
    path = folder / WEB_SETTINGS_FILE
    return validate(read_yaml(path), WebSettings) if path.exists() else WebSettings()
