"""Single sign-on: with an independent provider, and with one that lies."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from engine.quiz import rules as quiz_rules
from engine.web.sign_in import oidc
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.live.oidc import LyingProvider, independent_provider
from tests.web.conftest import ADDRESS

CLIENT = "softmark"
Configure = Callable[..., None]


@pytest.fixture
def configure(site: Site, folder: Path) -> Configure:
    def write(issuer: str, **more: object) -> None:
        lines = "".join(f"  {name}: {value}\n" for name, value in more.items())
        (folder / "web.yaml").write_text(
            f"oidc:\n  issuer: {issuer}\n  client_id: {CLIENT}\n{lines}", encoding="utf-8"
        )
        site._looked = 0.0

    return write


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests' providers on the same port were must not count."""
    monkeypatch.setattr(oidc, "_providers", oidc._Providers())


def claims(**more: object) -> dict[str, Any]:
    now = int(time.time())
    basis = {"sub": "s1", "aud": CLIENT, "iat": now, "exp": now + 300, "email": "ada@example.edu"}
    return {**basis, "email_verified": True, **more}


@pytest.fixture
def provider(configure: Configure) -> Iterator[LyingProvider]:
    with LyingProvider(claims()).running() as running:
        running.claims["iss"] = running.issuer
        configure(running.issuer)
        yield running


def come_back(client: TestClient, provider: LyingProvider, **changes: str) -> httpx2.Response:
    """Go to the provider, and back with its answer, changed."""
    location = client.get("/sign-in/oidc").headers["location"]
    answer = provider.authorize(location)
    return client.get("/sign-in/oidc/return", params={**answer, **changes})


def is_signed_in(client: TestClient) -> bool:
    return client.get("/account").status_code == 200


# --- an independent provider ---


def test_a_real_provider(client: TestClient, configure: Configure, folder: Path) -> None:
    (folder / "secret.txt").write_text("word\n", encoding="utf-8")
    users = {
        "s1": {"email": "Ada@Example.edu", "email_verified": True},
        "s2": {"email": "nobody@example.edu", "email_verified": True},
        "s3": {"email": "bob@example.edu"},
    }

    def sign_in(subject: str) -> httpx2.Response:
        begin = client.get("/sign-in/oidc", params={"next": "/account?x=1"})
        assert begin.headers["location"].startswith(f"{issuer}/oauth2/authorize?")
        consent = httpx.post(begin.headers["location"], data={"sub": subject})
        back = urlsplit(consent.headers["location"])
        assert back.path == "/sign-in/oidc/return"
        return client.get(f"{back.path}?{back.query}")

    with independent_provider(users) as issuer:
        configure(issuer, secret_file="secret.txt")
        assert "Sign in with Single sign-on" in client.get("/sign-in").text
        assert "Send me a link" not in client.get("/sign-in").text
        unverified = sign_in("s3")
        assert unverified.status_code == 403, unverified.text
        assert "verified your address" in unverified.text
        stranger = sign_in("s2")
        assert stranger.status_code == 403 and "nobody@example.edu" in stranger.text
        assert not is_signed_in(client)
        answer = sign_in("s1")
        assert (answer.status_code, answer.headers["location"]) == (303, "/account?x=1")
        assert "by single sign-on" in client.get("/account").text
        configure(issuer, unverified="true", secret_variable="OIDC_SECRET")
        missing = client.get("/sign-in/oidc")
        assert missing.status_code == 400 and "client secret of single sign-on is missing" in missing.text


def test_a_secret_and_unverified_addresses(
    client: TestClient, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OIDC_SECRET", "word")
    with independent_provider({"s3": {"email": "bob@example.edu"}}) as issuer:
        configure(issuer, unverified="true", secret_variable="OIDC_SECRET")
        location = client.get("/sign-in/oidc").headers["location"]
        back = urlsplit(httpx.post(location, data={"sub": "s3"}).headers["location"])
        assert client.get(f"{back.path}?{back.query}").status_code == 303
        denied = client.get("/sign-in/oidc").headers["location"]
        state = parse_qs(urlsplit(denied).query)["state"][0]
        answer = client.get(
            "/sign-in/oidc/return",
            params={"error": "access_denied", "error_description": "<b>no</b>", "state": state},
        )
        assert answer.status_code == 400 and "refused" in answer.text and "<b>no" not in answer.text


# --- one that lies ---


def test_honest_answers_sign_in(client: TestClient, provider: LyingProvider) -> None:
    assert come_back(client, provider).status_code == 303
    assert is_signed_in(client)


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"iss": "https://evil.example"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"exp": "tomorrow"},
        {"nbf": 4_000_000_000},
        {"sub": None},
        {"email": None},
        {"email": ["ada@example.edu"]},
    ],
    ids=str,
)
def test_what_a_token_must_say(client: TestClient, provider: LyingProvider, change: dict[str, Any]) -> None:
    location = client.get("/sign-in/oidc").headers["location"]
    answer = provider.authorize(location)
    provider.claims = {name: v for name, v in (provider.claims | change).items() if v is not None}
    page = client.get("/sign-in/oidc/return", params=answer)
    assert page.status_code == 400 and "Traceback" not in page.text
    assert not is_signed_in(client)


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_only_verified_addresses(client: TestClient, provider: LyingProvider, verified: object) -> None:
    provider.claims["email_verified"] = verified
    assert come_back(client, provider).status_code == 403
    assert not is_signed_in(client)


def test_signatures(client: TestClient, provider: LyingProvider) -> None:
    assert provider.published is not None
    right, public = provider.key, provider.published.as_pem(private=False)
    # Signed with the public key as a shared secret, the oldest trick of all; with none; with another key.
    for header, shared, key in (
        ({"alg": "HS256"}, public, right),
        ({"alg": "HS256", "kid": "one"}, b"", right),
        ({"alg": "none"}, None, right),
        ({"alg": "RS256", "kid": "one"}, None, RSAKey.generate_key(2048, {"kid": "one"})),
    ):
        provider.header, provider.shared, provider.key = header, shared, key
        provider.claims.pop("nonce", None)
        assert come_back(client, provider).status_code == 400, header
        assert not is_signed_in(client)


def test_a_key_that_was_changed_is_read_again(
    client: TestClient, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert come_back(client, provider).status_code == 303
    new = RSAKey.generate_key(2048, {"kid": "two"})
    provider.key, provider.published, provider.header = new, new, {"alg": "RS256", "kid": "two"}
    later = quiz_rules.now() + timedelta(minutes=2)
    monkeypatch.setattr(quiz_rules, "now", lambda: later)
    provider.claims.pop("nonce")
    assert come_back(client, provider).status_code == 303


def test_the_state_belongs_to_this_browser(client: TestClient, provider: LyingProvider) -> None:
    page = come_back(client, provider, state="another")
    assert page.status_code == 400 and "belongs to another sign-in" in page.text
    location = client.get("/sign-in/oidc").headers["location"]
    answer = provider.authorize(location, "code-2")
    client.cookies.clear()  # another browser, to which the address was sent
    page = client.get("/sign-in/oidc/return", params=answer)
    assert page.status_code == 400 and "another browser" in page.text
    assert not is_signed_in(client)


def test_a_sign_in_that_takes_too_long(
    client: TestClient, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = provider.authorize(client.get("/sign-in/oidc").headers["location"])
    later = quiz_rules.now() + timedelta(minutes=11)
    monkeypatch.setattr(quiz_rules, "now", lambda: later)
    page = client.get("/sign-in/oidc/return", params=answer)
    assert page.status_code == 400 and "took too long" in page.text


def test_a_cookie_that_was_changed(client: TestClient, provider: LyingProvider) -> None:
    answer = provider.authorize(client.get("/sign-in/oidc").headers["location"])
    sealed = client.cookies["softmark-oidc"]
    client.cookies.clear()
    client.cookies.set("softmark-oidc", "A" + sealed[1:])
    assert client.get("/sign-in/oidc/return", params=answer).status_code == 400


def test_an_answer_counts_once(client: TestClient, provider: LyingProvider) -> None:
    answer = provider.authorize(client.get("/sign-in/oidc").headers["location"])
    assert client.get("/sign-in/oidc/return", params=answer).status_code == 303
    client.cookies.delete(SESSION_COOKIE)
    assert client.get("/sign-in/oidc/return", params=answer).status_code == 400


def test_the_answer_of_another_service(client: TestClient, provider: LyingProvider) -> None:
    assert come_back(client, provider, iss="https://evil.example").status_code == 400


@pytest.mark.parametrize(
    "answer", [{"id_token": None}, {"id_token": "x"}, {"id_token": 3}, {"id_token": "a.b.c"}]
)
def test_answers_that_are_no_tokens(
    client: TestClient, provider: LyingProvider, answer: dict[str, Any]
) -> None:
    provider.answer = answer
    assert come_back(client, provider).status_code == 400


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": "http://127.0.0.1:1/"}],
    ids=str,
)
def test_a_provider_that_is_none(
    client: TestClient, provider: LyingProvider, metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    page = client.get("/sign-in/oidc")
    assert page.status_code == 503 and "sign-in service doesn&#39;t answer as it should" in page.text


def test_a_provider_that_is_away(client: TestClient, configure: Configure) -> None:
    configure("http://127.0.0.1:1")
    page = client.get("/sign-in/oidc")
    assert page.status_code == 503 and "try again in a few minutes" in page.text.lower()


def test_a_provider_that_hangs_holds_up_one_thread_alone(
    client: TestClient, configure: Configure, monkeypatch: pytest.MonkeyPatch, site: Site
) -> None:
    monkeypatch.setattr(oidc, "_TIMEOUT_S", 5.0)
    monkeypatch.setattr(oidc, "_WAIT_S", 0.2)
    with socket.socket() as silent:  # takes connections, and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen(50)
        configure(f"http://127.0.0.1:{silent.getsockname()[1]}")
        start = time.monotonic()
        browsers = [TestClient(client.app, base_url=ADDRESS, follow_redirects=False) for _ in range(6)]
        with ThreadPoolExecutor(6) as pool:

            def ask(browser: TestClient) -> tuple[int, float]:
                status = browser.get("/sign-in/oidc").status_code
                return status, time.monotonic() - start

            answers = sorted(pool.map(ask, browsers), key=lambda answer: answer[1])
        assert {status for status, _ in answers} == {503}
        assert answers[-2][1] < 5.0 <= answers[-1][1], "all but the one that asks are answered before it is"
        assert client.get("/sign-in/oidc").status_code == 503
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):  # it was asked once: the failure is remembered
            silent.accept()


def test_a_failure_is_remembered_for_half_a_minute(
    client: TestClient, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = quiz_rules.now()
    provider.metadata = {"issuer": "https://evil.example"}
    assert client.get("/sign-in/oidc").status_code == 503
    provider.metadata = {}
    assert client.get("/sign-in/oidc").status_code == 503
    monkeypatch.setattr(quiz_rules, "now", lambda: now + timedelta(seconds=40))
    assert client.get("/sign-in/oidc").status_code == 303


def test_what_is_known_of_a_provider_that_is_away_serves_on(
    client: TestClient, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/sign-in/oidc").status_code == 303
    now = quiz_rules.now()
    provider.metadata = {"issuer": "https://evil.example"}
    monkeypatch.setattr(quiz_rules, "now", lambda: now + timedelta(hours=2))
    assert client.get("/sign-in/oidc").status_code == 303
    provider.metadata = {"authorization_endpoint": f"{provider.issuer}/new"}
    monkeypatch.setattr(quiz_rules, "now", lambda: now + timedelta(hours=2, minutes=1))
    assert "/new" in client.get("/sign-in/oidc").headers["location"], "it is read again"


def test_not_all_threads_wait_for_the_provider(
    client: TestClient, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc, "_WAIT_S", 0.05)
    monkeypatch.setattr(oidc, "_asking", threading.BoundedSemaphore(1))
    oidc._asking.acquire()
    assert come_back(client, provider).status_code == 503
    oidc._asking.release()
    provider.claims.pop("nonce")
    assert come_back(client, provider).status_code == 303
    assert oidc._asking.acquire(timeout=0), "given back"


def test_other_claims_and_people_with_one_address(
    client: TestClient, provider: LyingProvider, configure: Configure, folder: Path, site: Site
) -> None:
    configure(provider.issuer, claim="student_number", field="id")
    provider.claims["student_number"] = "bob"
    assert come_back(client, provider).status_code == 303
    assert "Bob Moran" in client.get("/account").text
    client.cookies.clear()
    configure(provider.issuer)
    with (folder / "roster.csv").open("a", encoding="utf-8") as file:
        file.write("ada2,Ada Two,ADA@example.edu\nivy-try,Ivy as a student,ivy@example.edu\n")
    site._looked = 0.0
    provider.claims.pop("nonce")
    page = come_back(client, provider)
    assert page.status_code == 403 and "several people" in page.text
    provider.claims |= {"email": "ivy@example.edu"}
    provider.claims.pop("nonce")
    assert come_back(client, provider).status_code == 303
    assert "instructor" in client.get("/account").text


def test_without_settings_there_is_no_such_page(client: TestClient) -> None:
    assert client.get("/sign-in/oidc").status_code == 404
    assert client.get("/sign-in/oidc/return").status_code == 404
