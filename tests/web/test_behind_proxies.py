"""The site behind a real nginx and a real Caddy, as their example files set them up."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.live.quiz_visitor import QUIZ, publish_quiz
from tests.live.site import LiveSite, form_token, new_course
from tests.web.test_operation import free_port

EXAMPLES = Path(__file__).parents[2] / "examples" / "serve"
NAME = "localhost"
PATIENCE_S = 30.0
MIB = 1 << 20


@dataclass
class Proxied:
    """A site, and the proxy before it."""

    site: LiveSite
    address: str
    trusted: ssl.SSLContext
    log: Path

    def browser(self, host: str = "127.0.0.1") -> httpx.Client:
        """Return a client on one of this machine's addresses."""
        transport = httpx.HTTPTransport(verify=self.trusted, local_address=host)
        return httpx.Client(base_url=self.address, transport=transport, timeout=PATIENCE_S)


def make_certificate(folder: Path) -> ssl.SSLContext:
    """Write a certificate of this machine and its key, and return what trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return ssl.create_default_context(cafile=str(folder / "fullchain.pem"))


def nginx_file(folder: Path, port: int, site_port: int) -> Path:
    """Write a whole configuration around the example; only names and places are changed in it."""
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8")
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("marks.example.edu;", f"{NAME};"),
        ("/etc/letsencrypt/live/marks.example.edu", str(folder)),
        ("http://127.0.0.1:8000;", f"http://127.0.0.1:{site_port};"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""  # the folders of the test are this user's alone
    path = folder / "nginx.conf"
    path.write_text(
        f"{user}daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{text}\n}}\n",
        encoding="utf-8",
    )
    return path


def caddy_file(folder: Path, port: int, site_port: int) -> Path:
    text = (EXAMPLES / "Caddyfile").read_text(encoding="utf-8")
    tls = f"https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {folder}/fullchain.pem {folder}/privkey.pem\n"
    for old, new in (
        ("marks.example.edu {\n", tls),
        ("127.0.0.1:8000", f"127.0.0.1:{site_port}"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "Caddyfile"
    path.write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{text}", encoding="utf-8")
    return path


@contextmanager
def proxied(folder: Path, program: str, prefix: str) -> Iterator[Proxied]:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    trusted = make_certificate(folder)
    course = new_course(folder / "course")
    publish_quiz(course, "ada", "bob")
    port = free_port()
    address = f"https://{NAME}:{port}{prefix}"
    (course / "web.yaml").write_text(
        f"address: {address}\nproxies: [127.0.0.1]\nmail: {{folder: mails}}\n", encoding="utf-8"
    )
    site_port = free_port()
    site = LiveSite(course, "--log", str(folder / "log"), "--log-addresses", port=site_port)
    if program == "nginx":
        command = ["nginx", "-p", str(folder), "-c", str(nginx_file(folder, port, site_port))]
    else:
        command = ["caddy", "run", "--adapter", "caddyfile", "--config"]
        command.append(str(caddy_file(folder, port, site_port)))
    with (folder / "proxy.log").open("wb") as log:
        proxy = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"HOME": str(folder)})
    try:
        running = Proxied(site, address, trusted, folder / "log")
        _await(running, proxy, folder / "proxy.log")
        yield running
    finally:
        proxy.terminate()
        proxy.wait(PATIENCE_S)
        site.stop()


def _await(running: Proxied, proxy: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    with running.browser() as browser:
        while True:
            try:
                if browser.get("/health/ready").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            assert proxy.poll() is None and time.monotonic() < end, log.read_text(errors="replace")
            time.sleep(0.1)


@pytest.mark.parametrize(("program", "prefix"), [("nginx", "/nlp"), ("caddy", "")])
def test_a_student_behind_it(tmp_path: Path, program: str, prefix: str) -> None:
    with proxied(tmp_path, program, prefix) as running:
        with running.browser() as ada:
            sign_in_by_mail(running, ada, prefix)
            save_an_answer(ada, prefix)
            upload_too_much(ada, is_streamed=program == "caddy")
        see_who_asks(running)


def sign_in_by_mail(running: Proxied, ada: httpx.Client, prefix: str) -> None:
    if prefix:
        with running.browser() as other:
            assert other.get(f"https://{NAME}:{httpx.URL(running.address).port}{prefix}").status_code == 301
    page = ada.get("/sign-in")
    assert page.status_code == 200 and f'action="{prefix}/sign-in/mail"' in page.text
    form = {"csrf": form_token(page.text), "email": "ada@example.edu"}
    assert ada.post("/sign-in/mail", data=form).status_code == 303
    end, mails = time.monotonic() + PATIENCE_S, running.site.folder / "mails"
    while not (mails.exists() and list(mails.glob("*.eml"))):
        assert time.monotonic() < end
        time.sleep(0.1)
    (mail,) = mails.glob("*.eml")
    link = re.search(r"https://\S+", mail.read_text(encoding="utf-8"))
    assert link is not None and link[0].startswith(f"{running.address}/sign-in/link/")
    page = ada.get(link[0])
    answer = ada.post(f"{link[0]}/use", data={"csrf": form_token(page.text)})
    assert answer.status_code == 303, answer.text
    cookie = answer.headers["set-cookie"]
    assert "Secure" in cookie and f"Path={prefix or '/'}" in cookie
    assert "Strict-Transport-Security" in answer.headers
    assert "Ada Lovelace" in ada.get("/account").text


def save_an_answer(ada: httpx.Client, prefix: str) -> None:
    page = ada.get(f"/quiz/{QUIZ}/1").text
    (part,) = re.findall(r'name="text\.(\w+)"', page)
    address = f"/quiz/{QUIZ}/1/save"
    assert f"{prefix}{address}" in page
    headers = {
        "x-csrf-token": form_token(page),
        "accept": "application/json",
        "origin": f"https://{NAME}:{ada.base_url.port}",
    }
    form = {"retry": "0", f"revision.{part}": "0", f"text.{part}": "0.5"}
    answer = ada.post(address, data=form, headers=headers)
    assert answer.status_code == 200 and answer.json()["fields"][0]["state"] == "saved"
    foreign = ada.post(address, data=form, headers={**headers, "origin": "https://elsewhere.example"})
    assert foreign.status_code == 403


def upload_too_much(ada: httpx.Client, *, is_streamed: bool) -> None:
    """Upload more than the site takes, and more than nginx passes on; one that streams gets our answer."""
    token = form_token(ada.get("/code/softmax").text)
    for mib, is_ours in ((21, True), (30, is_streamed)):
        answer = ada.post(
            "/code/softmax/hand-in",
            data={"csrf": token, "way": "files"},
            files={"files": ("softmax.py", b"#" * (mib * MIB))},
        )
        assert answer.status_code == 413, (mib, answer.status_code)
        assert ("at most 20 MiB" in answer.text) is is_ours, answer.text


def see_who_asks(running: Proxied) -> None:
    """Who asks is known by the address from which the proxy was asked, whatever else is claimed."""
    for host in ("127.0.0.2", "127.0.0.3"):
        with running.browser(host) as browser:
            claimed = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "http"}
            assert browser.get("/sign-in", headers=claimed).status_code == 200
    clients = [json.loads(line).get("client") for line in running.log.read_text().splitlines()]
    # Limits count by the same. A request from before, by the address that all others use, may end later.
    assert [client for client in clients if client != "127.0.0.1"][-2:] == ["127.0.0.2", "127.0.0.3"]
