"""Sign-in links by mail: who asked is answered at once, and mails go out afterwards.

Whether an address is known is only looked at in the background, so that neither the answer nor its time
says it. A mail goes to the address in the roster, never to the one that was typed. While the mail server
can't be reached, mails wait as long as their links are valid.
"""

from __future__ import annotations

import logging
import secrets
import smtplib
import ssl
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, make_msgid
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.course.people import Person, Role, is_mail_address
from engine.course.sign_in_secrets import new_link_token
from engine.errors import EngineError, StoreError, UsageError
from engine.quiz import rules as quiz_rules
from engine.store.sessions import secret_hash
from engine.text.files import replacing, write_errors
from engine.text.words import clean_line, count_noun
from engine.web.limits import RateLimit

if TYPE_CHECKING:
    from engine.web.settings import MailSettings
    from engine.web.site import Site

log = logging.getLogger("softmark.web")

LINK_LASTS = timedelta(minutes=15)
_TIMEOUT_S = 15.0
_RETRY = (timedelta(seconds=5), timedelta(seconds=15), timedelta(seconds=30), timedelta(minutes=1))
_MOST_WAITING = 2000
# More would only fill a mailbox: the links sent before are still valid. Anybody can ask for anybody's
# address, so no limit may leave its owner without a valid link: after many in a day, one is sent as the last
# expires.
_OFTEN = RateLimit("mail-person", 3, LINK_LASTS)
_MANY = RateLimit("mail-person-day", 20, timedelta(days=1))
_SELDOM = RateLimit("mail-person-seldom", 1, LINK_LASTS)


class LinkMaker(Protocol):
    """Returns the address that a token opens."""

    def __call__(self, token: str, onward: str) -> str:
        """Return it."""


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """An address that was typed in, known or not."""

    email: str
    onward: str
    at: datetime
    link: LinkMaker


@dataclass(slots=True)
class Letter:
    """A mail that waits."""

    message: EmailMessage
    expires: datetime
    due: datetime
    tries: int = 0


class Outbox:
    """Requests for links, and the mails that wait to be sent; in memory, because they are short-lived."""

    def __init__(self) -> None:
        self._requests: deque[LinkRequest] = deque()
        self._letters: list[Letter] = []
        self._lock = threading.Lock()
        self.fault: str | None = None  # why mails can't be sent, for staff; None as far as we know they can

    def ask(self, request: LinkRequest) -> None:
        """Note a request, and return at once.

        Raises
        ------
        UsageError
            Too many wait.
        """
        if len(self._requests) >= _MOST_WAITING:
            raise UsageError("too many people want links right now", next_step="try again in a few minutes")
        self._requests.append(request)

    def work(self, site: Site) -> None:
        """Write the mails that were asked for, and send those that are due."""
        with self._lock:
            while self._requests:
                self._write_next(site)
            now = quiz_rules.now()
            self._letters = [letter for letter in self._letters if letter.expires > now]
            due = [letter for letter in self._letters if letter.due <= now]
            settings = site.mail
            if not due or settings is None:
                return
            try:
                sending = _send(settings, site.folder, due)
            except EngineError as error:
                _put_off(due, now)
                self._note_fault(f"{error.where}: {error.what} ({error.got})")
                return
            _put_off(sending.put_off, now)
            self._letters = [letter for letter in self._letters if letter not in sending.finished]
            if len(sending.put_off) > 1 and not sending.finished:  # it's hardly about those mailboxes
                self._note_fault(f"{settings.host}:{settings.port}: {sending.reason}")
            elif sending.finished:
                if self.fault is not None:
                    log.warning("emails are sent again")
                self.fault = None

    def _write_next(self, site: Site) -> None:
        try:
            letters = _letters(site, self._requests[0])
        except StoreError:  # away for a moment: the request stays
            raise
        except Exception as error:  # one that can't be answered holds up nobody else
            log.error("an email can't be written, and is left out: %s", type(error).__name__)
            letters = []
        self._letters += letters
        self._requests.popleft()

    def _note_fault(self, fault: str) -> None:
        self.fault = fault
        log.error("emails can't be sent, %s waiting: %s", len(self._letters), fault)


def _put_off(letters: Sequence[Letter], now: datetime) -> None:
    for letter in letters:
        letter.due = now + _RETRY[min(letter.tries, len(_RETRY) - 1)]
        letter.tries += 1


def _letters(site: Site, request: LinkRequest) -> list[Letter]:
    now = request.at
    letters = []
    # Several people may share an address, such as an instructor who is also a student for trying.
    counter = site.rates
    for person in site.people.with_email(request.email)[:5]:
        if not is_mail_address(person.email):
            log.error("an email isn't sent: `grade course check` names invalid addresses")
            continue
        limit = _OFTEN if counter.wait(_MANY, person.id, now) is None else _SELDOM
        if counter.wait(limit, person.id, now) is not None:
            continue
        expires = now + LINK_LASTS
        token = new_link_token(site.secret, expires)
        message = _message(site, person, request.link(token, request.onward), now)
        site.store.sign_in_secrets.add(
            [(person.id, secret_hash(token))], kind="mail", now=now, expires=expires
        )
        for each in (_OFTEN, _MANY, _SELDOM):
            counter.count(each, person.id, now)
        letters.append(Letter(message, expires, now))
    return letters


def _message(site: Site, person: Person, link: str, now: datetime) -> EmailMessage:
    title = clean_line(site.course.title, 200)
    sender = site.mail.sender if site.mail else ""
    message = EmailMessage()
    message["From"] = formataddr((title, sender))
    message["To"] = person.email.strip()
    message["Subject"] = f"Sign in: {title}"
    message["Date"] = format_datetime(now)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2] or "localhost")
    message["Auto-Submitted"] = "auto-generated"
    lasts = count_noun(LINK_LASTS.seconds // 60, "minute")
    article = "an" if person.role is Role.INSTRUCTOR else "a"
    message.set_content(
        f"""\
Hello {clean_line(person.name or person.id, 100)},

This link signs you in to {title} as {article} {person.role}:

{link}

It works once, within {lasts}. It opens a page with a button that signs you in.

If you didn't ask for this email, ignore it: nobody is signed in without the link.
""",
        cte="8bit",
    )
    return message


@dataclass(slots=True)
class _Sending:
    """What became of some letters: finished are those that were sent, or refused for good."""

    finished: list[Letter] = field(default_factory=list)
    put_off: list[Letter] = field(default_factory=list)
    reason: str = ""


def _send(settings: MailSettings, folder: Path, letters: Sequence[Letter]) -> _Sending:
    """Send letters; one that is refused, for now or for good, holds up no other.

    Raises
    ------
    EngineError
        The server can't be reached, or takes no mail from us now.
    """
    if settings.folder is not None:
        for letter in letters:
            _write(folder / settings.folder, letter.message)
        return _Sending(list(letters))
    sending = _Sending()
    try:
        with _connect(settings, folder) as server:
            for letter in letters:
                _send_one(server, letter, sending)
    except (OSError, smtplib.SMTPException) as error:
        # Some went out: those aren't sent twice. Those that weren't tried are still due.
        if not sending.finished and not sending.put_off:
            raise EngineError(
                "the mail server accepts no email",
                where=f"{settings.host}:{settings.port}",
                got=_reason(error),
                next_step="see `mail` in web.yaml",
            ) from error
    return sending


def _send_one(server: smtplib.SMTP, letter: Letter, sending: _Sending) -> None:
    try:
        server.send_message(letter.message)
    except _REFUSALS as error:
        code = _status(error)
        if code is not None and code < 500:  # a full mailbox, greylisting
            sending.put_off.append(letter)
            sending.reason = f"emails are refused for now ({code})"
            return
        # The address stays out of the log: whoever reads it needn't know who is in the course.
        log.error("an email was refused for good: %s", type(error).__name__)
    except (OSError, smtplib.SMTPException):
        raise
    except Exception as error:  # an address that the library stumbles over
        log.error("an email can't be sent, and is left out: %s", type(error).__name__)
    sending.finished.append(letter)


# Of one mail; others may go through. The last: an address in other letters than ASCII.
_REFUSALS = (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError)


def _status(error: Exception) -> int | None:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return min(code for code, _ in error.recipients.values())
    return error.smtp_code if isinstance(error, smtplib.SMTPDataError) else None


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error
        words = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        return clean_line(f"{error.smtp_code} {words}", 200)
    return clean_line(str(error) or type(error).__name__, 200)


def _connect(settings: MailSettings, folder: Path) -> smtplib.SMTP:
    assert settings.host is not None
    trusted = ssl.create_default_context()
    server: smtplib.SMTP
    if settings.security == "tls":
        server = smtplib.SMTP_SSL(settings.host, settings.port, timeout=_TIMEOUT_S, context=trusted)
    else:
        server = smtplib.SMTP(settings.host, settings.port, timeout=_TIMEOUT_S)
    try:
        if settings.security == "starttls":
            server.starttls(context=trusted)
        if settings.user is not None:
            server.login(settings.user, settings.password(folder))
    except BaseException:
        server.close()
        raise
    return server


def check_mail(settings: MailSettings, folder: Path) -> None:
    """Connect to the mail server, and sign in there; nothing is sent.

    Raises
    ------
    EngineError
        That fails.
    """
    if settings.folder is not None:
        return
    try:
        with _connect(settings, folder) as server:
            server.noop()
    except (OSError, smtplib.SMTPException) as error:
        raise EngineError(
            "the mail server can't be used",
            where=f"{settings.host}:{settings.port}",
            got=_reason(error),
            next_step="see `mail` in web.yaml",
        ) from error


def _write(folder: Path, message: EmailMessage) -> None:
    step = "name a writable folder as `mail: {folder: …}` in web.yaml"
    with write_errors("the email can't be written", folder, next_step=step, kind=EngineError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = sum(1 for _ in folder.iterdir()) + 1
        path = folder / f"{number:04d}-{secrets.token_hex(3)}.eml"
        # As bytes: as text it would be base64 where a name isn't ASCII, and nobody could read the link.
        with replacing(path, private=True) as file:
            file.write(message.as_bytes())
