"""OpenID providers on loopback: an independent one from PyPI, and one that lies as a test tells it to."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

__all__ = ["LyingProvider", "independent_provider"]

_SERVE = """
import json, sys
from oidc_provider_mock import User, app
from werkzeug.serving import make_server

users = [User(sub=sub, claims=claims) for sub, claims in json.loads(sys.argv[1]).items()]
server = make_server("127.0.0.1", 0, app(user_claims=users, require_nonce=True), threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextmanager
def independent_provider(users: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Run ``oidc-provider-mock`` with these users (claims by subject) and yield its address."""
    words = [sys.executable, "-W", "ignore", "-c", _SERVE, json.dumps(users)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class LyingProvider:
    """A provider whose every statement a test can set; it checks PKCE and gives a code away once."""

    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    published: RSAKey | None = None
    shared: bytes | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    challenges: dict[str, str] = field(default_factory=dict)
    issuer: str = ""
    key_reads: int = 0

    def __post_init__(self) -> None:
        if self.published is None:
            self.published = self.key

    def authorize(self, location: str, code: str = "code-1") -> dict[str, str]:
        """Do what the provider does while the browser is there; return the query it comes back with."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        self.challenges[code] = query["code_challenge"]
        self.claims.setdefault("nonce", query["nonce"])
        return {"code": code, "state": query["state"]}

    def token(self, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        """Answer the exchange of a code."""
        challenge = self.challenges.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if challenge is None or _b64(digest) != challenge:
            return 400, {"error": "invalid_grant", "error_description": "no such code"}
        if self.header["alg"] in ("none", "HS256"):  # by hand: libraries refuse to make these
            text = ".".join(_b64(json.dumps(part).encode()) for part in (self.header, self.claims))
            seal = b"" if self.shared is None else hmac.digest(self.shared, text.encode(), "sha256")
            id_token = f"{text}.{_b64(seal)}"
        else:
            id_token = jwt.encode(self.header, self.claims, self.key, algorithms=[self.header["alg"]])
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": id_token} | self.answer

    @contextmanager
    def running(self) -> Iterator[LyingProvider]:
        """Serve on a free port."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/.well-known"):
                    value = {
                        "issuer": provider.issuer,
                        "authorization_endpoint": f"{provider.issuer}/authorize",
                        "token_endpoint": f"{provider.issuer}/token",
                        "jwks_uri": f"{provider.issuer}/keys",
                    } | provider.metadata
                else:
                    provider.key_reads += 1
                    assert provider.published is not None
                    value = KeySet([provider.published]).as_dict(private=False)
                self._send(200, value)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._send(*provider.token({n: v[0] for n, v in parse_qs(body).items()}))

            def _send(self, status: int, value: Mapping[str, Any]) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
