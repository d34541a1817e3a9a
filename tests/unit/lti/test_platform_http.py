"""Requests go only where they may: over TLS, never to this machine's own services, never on by a redirect."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import LtiError, PlatformAwayError
from engine.lti.platform_http import PlatformSession, check_url, is_local, origin_of
from engine.lti.registrations import USUAL, registration_values, usual_values
from tests.live.lms import Lms, LmsFault


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://",
        "http://moodle.example.edu/token",
        "ftp://moodle.example.edu/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:secret@moodle.example.edu/",
        "https://moodle.example.edu/#part",
        "https://moodle.example.edu/a b",
        "https://moodle.example.edu/\r\nHost: x",
        "https://möodle.example.edu/",
        "https://moodle.example.edu:99999/",
        "https://[::1/",
        "//moodle.example.edu/",
        "https://moodle.example.edu/" + "x" * 1000,
        "http://localhost/",
    ],
)
def test_addresses_that_arent_https_are_refused(url: str) -> None:
    with pytest.raises(LtiError, match="the token URL can't be used") as error:
        check_url(url, "the token URL")
    assert "secret" not in (error.value.got or "") or "user" in url
    assert origin_of(url) is None or url == "http://localhost/"


def test_this_machine_is_fine_only_for_trying_things_out() -> None:
    for url in ("http://localhost:8080/x", "http://127.0.0.1/x", "http://[::1]:9/x"):
        assert is_local(url) and check_url(url, "x", local=True) == url
        with pytest.raises(LtiError):
            check_url(url, "x")
    assert not is_local("https://moodle.example.edu") and not is_local("http://[")
    with pytest.raises(LtiError):
        check_url("http://moodle.example.edu", "x", local=True)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "169.254.169.254", "fe80::1", "224.0.0.1"),
        *("::ffff:127.0.0.1", "240.0.0.1"),
    ],
)
def test_names_that_lead_to_this_machine_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(host: str, port: Any, **_: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for local in (False, True):
        with pytest.raises(LtiError, match="is an address of this machine") as error:
            PlatformSession(local=local).get("https://moodle.example.edu/jwks")
        assert not isinstance(error.value, PlatformAwayError)


def test_a_name_that_nobody_knows_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(PlatformAwayError) as error:
        PlatformSession().get("https://moodle.example.edu/jwks")
    assert error.value.got == "its name isn't known"


def test_redirects_arent_followed(lms: Lms) -> None:
    lms.faults.append(LmsFault("/jwks", 302, headers={"Location": f"{lms.address}/token"}))
    with pytest.raises(LtiError, match="sends us on to another address"):
        PlatformSession(local=True).get(f"{lms.address}/jwks")
    assert lms.requests == ["GET /jwks"]


def test_a_netrc_of_the_server_gives_nothing_away(
    lms: Lms, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login root password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    response = PlatformSession(local=True).get(f"{lms.address}/jwks", headers={"Authorization": "Bearer t"})
    assert response.request.headers["Authorization"] == "Bearer t"


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for url in (text, f"https://{text}", f"https://lms.example/{text}"):
        try:
            assert check_url(url, "x") == url
            assert url.startswith("https://") or url.lower().startswith("https://")
        except LtiError as error:
            assert "\n" not in error.what
        origin = origin_of(url)
        assert origin is None or not set(origin) & set("; ,'\"\n")


def test_usual_addresses_can_be_registered() -> None:
    for kind in USUAL:
        values = registration_values(
            {**usual_values(kind, "https://lms.example.edu/"), "client_id": "c", "deployments": "1\n2"},
            local=False,
        )
        assert values["name"] and values["deployments"] == ["1", "2"] and values["audience"] is None


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("client_id", ""),
        ("client_id", "x" * 301),
        ("issuer", "moodle"),
        ("keys_url", ""),
        ("name", "a\nb"),
        ("deployments", "x" * 301),
    ],
)
def test_registrations_with_a_fault_are_refused(field: str, text: str) -> None:
    fields = {**usual_values("moodle", "https://lms.example.edu"), "client_id": "c", field: text}
    with pytest.raises(LtiError):
        registration_values(fields, local=False)
