"""Mails through a real mail server: encrypted, with a password, away for a while, refusing."""

from __future__ import annotations

import logging
import socket
import ssl
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.errors import CourseError, EngineError, SpecError
from engine.quiz import rules as quiz_rules
from engine.web.outbox import check_mail
from engine.web.settings import read_web_settings
from engine.web.site import Site
from tests.live.mail import MailServer
from tests.web.conftest import SignedIn
from tests.web.test_sign_in import ask

Settle = Callable[[Any], None]


@pytest.fixture
def settings(site: Site, folder: Path) -> Callable[..., None]:
    """Return a function that writes web.yaml for a mail server."""

    def write(port: int, **more: object) -> None:
        lines = "".join(f"  {name}: {value}\n" for name, value in more.items())
        text = f"mail:\n  host: 127.0.0.1\n  port: {port}\n  sender: course@example.edu\n{lines}"
        (folder / "web.yaml").write_text(text, encoding="utf-8")
        site._looked = 0.0

    return write


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    moment = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

    def forward(by: timedelta) -> None:
        nonlocal moment
        moment += by

    monkeypatch.setattr(quiz_rules, "now", lambda: moment)
    return forward


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    files = ["-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*words, *files], cwd=folder, check=True, capture_output=True)
    return folder


def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    return context


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_plain(site: Site, client: TestClient, settings: Callable[..., None]) -> None:
    with MailServer() as server:
        settings(server.port, security="none")
        ask(client, "ada@example.edu")
        ask(client, "nobody@example.edu")
        ask(client, "ivy@example.edu")
        site.outbox.work(site)
    (address, content), (_, to_staff) = server.mails
    assert address == "ada@example.edu"
    assert b"as a student:" in content and b"as an instructor:" in to_staff
    assert b"From: Attention <course@example.edu>" in content and b"/sign-in/link/" in content
    assert site.outbox.fault is None


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # it is TLS from the start
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_encrypted_with_a_password(
    site: Site,
    client: TestClient,
    settings: Callable[..., None],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    security: str,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    (site.folder / "password.txt").write_text("secret word\n", encoding="utf-8")
    tls = server_tls(certificate)
    with MailServer(tls=tls, implicit=security == "tls", user="course", password="secret word") as server:
        settings(server.port, security=security, user="course", password_file="password.txt")
        check_mail(site.settings.mail, site.folder)
        ask(client, "ada@example.edu")
        site.outbox.work(site)
        assert len(server.mails) == 1
        settings(server.port, security=security, user="course", password_variable="MAIL_PASSWORD")
        with pytest.raises(CourseError, match="password is missing") as missing:
            check_mail(site.settings.mail, site.folder)
        assert missing.value.where == "environment variable MAIL_PASSWORD"
        monkeypatch.setenv("MAIL_PASSWORD", "wrong")
        with pytest.raises(EngineError, match="can't be used") as wrong:
            check_mail(site.settings.mail, site.folder)
        assert (wrong.value.got or "").startswith("535")


def test_nothing_is_sent_to_a_server_that_cant_prove_its_name(
    site: Site, client: TestClient, settings: Callable[..., None], certificate: Path
) -> None:
    with MailServer(tls=server_tls(certificate)) as server:
        settings(server.port)
        ask(client, "ada@example.edu")
        site.outbox.work(site)
        assert server.mails == []
    assert "CERTIFICATE_VERIFY_FAILED" in (site.outbox.fault or "")


def test_a_server_that_is_away_for_a_while(
    site: Site,
    client: TestClient,
    settings: Callable[..., None],
    clock: Callable[[timedelta], None],
    caplog: pytest.LogCaptureFixture,
    signed_in: SignedIn,
) -> None:
    port = free_port()
    settings(port, security="none")
    ask(client, "ada@example.edu")
    with caplog.at_level(logging.INFO, logger="softmark.web"):
        site.outbox.work(site)
    assert site.outbox.fault is not None and "Connection refused" in site.outbox.fault
    assert "ada" not in caplog.text, "no personal data in the log"
    for page in (client.get("/sign-in"), client.get("/sign-in/sent")):
        assert "Emails can&#39;t be sent at the moment" in page.text or "Emails can't be sent" in page.text
    with MailServer(port=port) as server:
        site.outbox.work(site)
        assert server.mails == [], "it isn't asked all the time"
        clock(timedelta(seconds=6))
        site.outbox.work(site)
        site.outbox.work(site)
        assert [address for address, _ in server.mails] == ["ada@example.edu"], "once"
    assert site.outbox.fault is None
    assert "Emails can" not in client.get("/sign-in").text


def test_a_mail_isnt_sent_when_its_link_has_expired(
    site: Site, client: TestClient, settings: Callable[..., None], clock: Callable[[timedelta], None]
) -> None:
    port = free_port()
    settings(port, security="none")
    ask(client, "ada@example.edu")
    for _ in range(12):
        site.outbox.work(site)
        clock(timedelta(minutes=1, seconds=20))
    with MailServer(port=port) as server:
        site.outbox.work(site)
        assert server.mails == []


def test_one_address_that_is_refused_holds_up_nobody(
    site: Site, client: TestClient, settings: Callable[..., None], clock: Callable[[timedelta], None]
) -> None:
    with MailServer(refused={"ada@example.edu": "550 no such mailbox"}) as server:
        settings(server.port, security="none")
        for address in ("ada@example.edu", "bob@example.edu"):
            ask(client, address)
        site.outbox.work(site)
        clock(timedelta(seconds=10))
        site.outbox.work(site)
        assert [address for address, _ in server.mails] == ["bob@example.edu"]
        server.refused["mia@example.edu"] = "451 greylisted"
        ask(client, "mia@example.edu")
        site.outbox.work(site)
        server.refused.clear()
        clock(timedelta(seconds=10))
        site.outbox.work(site)
        assert [address for address, _ in server.mails] == ["bob@example.edu", "mia@example.edu"]


def test_a_mailbox_that_is_full_holds_up_no_other(
    site: Site, client: TestClient, settings: Callable[..., None], clock: Callable[[timedelta], None]
) -> None:
    with MailServer(refused={"ada@example.edu": "452 mailbox full"}) as server:
        settings(server.port, security="none")
        for person in ("ada", "bob", "ivy"):
            ask(client, f"{person}@example.edu")
        site.outbox.work(site)
        assert [address for address, _ in server.mails] == ["bob@example.edu", "ivy@example.edu"]
        assert site.outbox.fault is None, "nothing is wrong with the server"
        for _ in range(3):
            site.outbox.work(site)
        server.refused.clear()
        assert len(server.mails) == 2, "it is left alone for a while"
        clock(timedelta(seconds=6))
        site.outbox.work(site)
        assert server.mails[2][0] == "ada@example.edu"


def test_a_server_that_refuses_everybody_for_now_is_a_fault(
    site: Site, client: TestClient, settings: Callable[..., None], clock: Callable[[timedelta], None]
) -> None:
    people = ("ada", "bob", "mia")
    with MailServer(refused={f"{p}@example.edu": "450 too many mails" for p in people}) as server:
        settings(server.port, security="none")
        for person in people:
            ask(client, f"{person}@example.edu")
        site.outbox.work(site)
        assert site.outbox.fault == f"127.0.0.1:{server.port}: emails are refused for now (450)"
        server.refused.clear()
        clock(timedelta(seconds=6))
        site.outbox.work(site)
        assert len(server.mails) == 3 and site.outbox.fault is None


@pytest.mark.parametrize(
    "address", ["cy@", "@", "cy@exa mple.edu", "<cy@example.edu", "cy@[", "cy@a.edu; x@b.edu"]
)
def test_an_address_of_the_roster_that_is_none_holds_up_nobody(
    site: Site, folder: Path, client: TestClient, settings: Callable[..., None], address: str
) -> None:
    text = (folder / "roster.csv").read_text(encoding="utf-8")
    (folder / "roster.csv").write_text(f"{text}cy,Cy,{address}\n", encoding="utf-8")
    with MailServer() as server:
        settings(server.port, security="none")
        ask(client, address)
        ask(client, "ada@example.edu")
        site.outbox.work(site)
        site.outbox.work(site)
        assert [to for to, _ in server.mails] == ["ada@example.edu"]
    assert site.outbox.fault is None


def test_no_stranger_keeps_somebody_without_a_link(
    site: Site, client: TestClient, settings: Callable[..., None], clock: Callable[[timedelta], None]
) -> None:
    with MailServer() as server:
        settings(server.port, security="none")
        for _ in range(40):
            for _ in range(5):
                ask(client, "bob@example.edu")
            site.outbox.work(site)
            before = len(server.mails)
            clock(timedelta(minutes=15))
        ask(client, "bob@example.edu")
        site.outbox.work(site)
        assert len(server.mails) == before + 1, "as the last link expires, there is another"
        assert len(server.mails) <= 21 + 41, "and the mailbox isn't flooded"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("mail: {}", "either host, the mail server, or folder is needed"),
        ("mail: {host: a, folder: b}", "either host, the mail server, or folder is needed"),
        ("mail: {host: a, user: u}", "password_file or password_variable is needed"),
        (
            "mail: {host: a, user: u, password_file: p, security: none}",
            "a password isn't sent without encryption",
        ),
        ("mail: {host: a, port: 0}", "port"),
        ("oidc: {issuer: 'http://sso.example.edu', client_id: c}", "an address such as https://"),
        ("oidc: {issuer: 'javascript:x', client_id: c}", "an address such as https://"),
    ],
)
def test_settings_at_fault(folder: Path, text: str, what: str) -> None:
    (folder / "web.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_web_settings(folder)
    assert any(what in line for line in caught.value.lines())
