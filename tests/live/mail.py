"""A real mail server on loopback, which keeps what it is sent."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

__all__ = ["MailServer"]


@dataclass
class MailServer:
    """A server that takes mails on a free port of this machine.

    Parameters
    ----------
    tls : ssl.SSLContext, optional
        Offers STARTTLS, or is TLS from the start with `implicit`.
    user, password : str, optional
        Whom it lets in; nobody needs to sign in without.
    """

    tls: ssl.SSLContext | None = None
    implicit: bool = False
    user: str | None = None
    password: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    mails: list[tuple[str, bytes]] = field(default_factory=list)
    port: int = 0
    _controller: Controller | None = None

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's names
        self, server: SMTP, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails += [(address, content) for address in envelope.rcpt_tos]
        return "250 OK"

    def _authenticate(self, _server: Any, _session: Any, _envelope: Any, _way: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        right = (data.login.decode(), data.password.decode()) == (self.user, self.password)
        return AuthResult(success=right, handled=False)  # it answers by itself

    def __enter__(self) -> MailServer:
        options: dict[str, Any] = {}
        if self.user is not None:
            options = {"authenticator": self._authenticate, "auth_required": True}
        if self.tls is not None and not self.implicit:
            options |= {"tls_context": self.tls, "require_starttls": True}
        elif self.user is not None:
            options["auth_require_tls"] = False
        self._controller = _OnFreePort(
            self, port=self.port, ssl_context=self.tls if self.implicit else None, **options
        )
        self._controller.start()
        self.port = self._controller.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._controller is not None
        self._controller.stop()


class _OnFreePort(Controller):
    def __init__(self, handler: MailServer, *, port: int, **options: Any) -> None:
        super().__init__(handler, hostname="127.0.0.1", port=port, **options)

    def _trigger_server(self) -> None:
        # It connects to its own port, which is known only now.
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()
