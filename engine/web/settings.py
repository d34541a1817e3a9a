"""``web.yaml`` in the course folder: how the site is reached, and how people sign in.

The file is optional: without it the site runs on this machine, writes its mails into a folder, and whoever
started it signs in by the link in the terminal. Passwords don't stand in it: it names a file or an
environment variable that has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from engine.items.field_types import Flag, StrictModel, fault_here
from engine.text.yaml import read_yaml, validate

WEB_SETTINGS_FILE = "web.yaml"

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


class OidcSettings(StrictModel):
    """An OpenID Connect provider; `claim` of its tokens is compared with the roster's `field`."""

    issuer: Line
    client_id: Line
    name: Line = "Single sign-on"
    secret_file: Line | None = None
    secret_variable: Line | None = None
    claim: Line = "email"
    field: Literal["email", "id", "login"] = "email"


class WebSettings(StrictModel):
    """All settings of the site.

    ``address`` is what people type, ``https://marks.example.edu/nlp``: links and cookies depend on it, and a
    path in it is the prefix under which a proxy serves the site. ``proxies`` are the addresses of proxies
    whose ``X-Forwarded-For`` is believed. With ``blind_marking``, markers see codes in place of names on all
    their pages.
    """

    address: Line | None = None
    mail: MailSettings | None = None
    oidc: OidcSettings | None = None
    proxies: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    session_hours: Annotated[int, Field(ge=1, le=24 * 31)] = 12
    blind_marking: Flag = False
    most_upload_mib: Annotated[int, Field(ge=1, le=1024)] = 20

    @field_validator("address")
    @classmethod
    def _is_an_address(cls, address: str | None) -> str | None:
        if address is not None and not address.startswith(("http://", "https://")):
            raise fault_here("an address such as https://marks.example.edu was expected")
        return None if address is None else address.rstrip("/")


def read_web_settings(folder: Path) -> WebSettings:
    """Return the settings of a course's site; the defaults where there is no file.

    Raises
    ------
    SpecError
        The file has faults; with all of them.
    """
    path = folder / WEB_SETTINGS_FILE
    return validate(read_yaml(path), WebSettings) if path.exists() else WebSettings()
