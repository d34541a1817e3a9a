"""The course that is being served: one object that all requests share.

An instructor may edit the course folder while the site runs. What was changed is read again at the next
request; while a file has faults, the last good state goes on serving, and staff see the fault on their pages.
"""

from __future__ import annotations

import hmac
import os
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from engine.course import Course, Roster
from engine.course.people import STAFF_FILE, People, people_of, read_staff
from engine.course.policies import Policies
from engine.errors import CourseError, InputError
from engine.items.bank import Bank, builtin_root
from engine.marks.class_results import class_results
from engine.marks.class_table import StudentResults
from engine.marks.open_problems import OPEN_PROBLEMS_FILE, OpenProblems
from engine.model import Mode
from engine.store import Store
from engine.text.cache import JsonCache
from engine.text.times import local_text
from engine.text.watch import FileStamp, file_stamp
from engine.web.hand_in_desk import HandInDesk
from engine.web.jobs import JobRunner
from engine.web.limits import RateCounter
from engine.web.outbox import Outbox
from engine.web.settings import WEB_SETTINGS_FILE, MailSettings, WebSettings, read_web_settings

_LOOK_EVERY_S = 1.0  # looking at all files of a large course takes milliseconds: not for every request
_FILES = ("course.yaml", "roster.csv", STAFF_FILE, WEB_SETTINGS_FILE)


@dataclass(frozen=True)
class CourseState:
    """What was read from the course folder at one moment; a request uses one state from start to end."""

    course: Course
    roster: Roster
    people: People
    settings: WebSettings
    bank: Bank


class Site:
    """A course folder with its store, as the site serves it; safe to use from several threads.

    Parameters
    ----------
    folder : Path
        The course folder.
    store : Store
        Open as long as the site is served.
    address : str
        Where people reach it, without a slash at the end.
    """

    def __init__(self, folder: Path, store: Store, address: str) -> None:
        self.folder = folder
        self.store = store
        self.jobs = JobRunner()
        self._address = address
        self._cache = JsonCache.of_person()
        self._lock = threading.Lock()
        self._stamps = self._now()
        self._looked = time.monotonic()
        self._state, self.fault = self._read(None)
        self.rates = RateCounter()
        self.outbox = Outbox()
        self.hand_in_desk = HandInDesk(store, lambda: self.state)
        # The same in every process and after a restart: an open page goes on saving when the server is back.
        self.secret = self._state.course.secret()
        self.form_secret = hmac.digest(self.secret, b"softmark: forms of the site", "sha256")

    @property
    def state(self) -> CourseState:
        """What the course folder says now, or last said without faults."""
        if time.monotonic() - self._looked > _LOOK_EVERY_S:
            with self._lock:
                stamps = self._now()
                if stamps != self._stamps:
                    try:
                        self._state, self.fault = self._read(self._state)
                    except InputError as error:
                        self.fault = error
                    self._stamps = stamps
                self._looked = time.monotonic()
        return self._state

    def look_again(self) -> None:
        """Have the next request look at the course folder, in which something was just changed."""
        self._looked = float("-inf")

    @property
    def course(self) -> Course:
        """The course."""
        return self.state.course

    @property
    def bank(self) -> Bank:
        """The course's items."""
        return self.state.bank

    @property
    def people(self) -> People:
        """Students and staff."""
        return self.state.people

    @property
    def settings(self) -> WebSettings:
        """The settings of the site."""
        return self.state.settings

    @property
    def mode(self) -> Mode:
        """Whether results count."""
        return Mode(self.course.mode)

    @property
    def mail(self) -> MailSettings | None:
        """How links are sent; None where people sign in otherwise. For trying, mails are files."""
        settings = self.settings
        trial = MailSettings(folder=".softmark/mail")
        return settings.mail or (None if settings.oidc else trial)

    @property
    def address(self) -> str:
        """Where people reach the site, without a slash at the end."""
        return self.settings.address or self._address

    @property
    def is_secure(self) -> bool:
        """Whether it is reached over TLS, so that cookies may demand it."""
        return self.address.startswith("https://")

    @property
    def prefix(self) -> str:
        """The path under which a proxy serves the site, ``/nlp``; empty for none."""
        return urlsplit(self.address).path

    def local_time(self, when: datetime) -> str:
        """Return a moment in the course's time zone, with its name: ``Fri 6 Nov 2026, 18:00 CET``."""
        return local_text(when, self.course.policies.zone, with_zone=True)

    def plain_places(self, text: str) -> str:
        """Return a text without the folders of this machine: files as the course and the bank name them."""
        roots = {str(self.folder), str(self.folder.resolve()), str(builtin_root())}
        for root in sorted(roots, key=len, reverse=True):
            # What a root of one letter names could be a part of any word.
            text = text.replace(f"{root}{os.sep}", "") if len(root) > 1 else text
        return text

    def policies(self) -> Policies:
        """Return the course's rules about marks, with what single students were allowed."""
        return self.course.policies_with(self.store)

    def results(self, only: Collection[str] | None = None) -> Iterator[StudentResults]:
        """Yield the results of the students in `only`, or of all, as every other command shows them."""
        state = self.state
        problems = OpenProblems(self.folder / ".softmark" / OPEN_PROBLEMS_FILE).still_open(self.store)
        return class_results(
            self.store,
            mode=self.mode,
            title_of=state.bank.title_of,
            roster=state.roster,
            problems=problems,
            policies=self.policies(),
            points_of=state.bank.code_points,
            hidden_checks_of=state.bank.hidden_checks,
            only=only,
        )

    def _read(self, last: CourseState | None) -> tuple[CourseState, InputError | None]:
        """Read the course folder; also return a fault with which it is used, as there is nothing better."""
        course = Course.open(self.folder)
        fault: InputError | None = None
        try:
            course.require_rules()
        except InputError as error:
            # Without its rules a course has no due dates and shows no results: the last ones are better.
            if last is not None and not last.course.rule_faults:
                raise
            fault = error
        roster = course.roster(tolerant=True)
        if roster.faults:
            # Those of a faulty line would be signed out, perhaps in the middle of an exam.
            faults = CourseError.of_file([fault.diagnostic for fault in roster.faults])
            if last is not None and not last.roster.faults:
                raise faults
            fault = fault or faults
        people = people_of(roster, read_staff(self.folder / STAFF_FILE))
        bank = course.bank(self._cache)
        return CourseState(course, roster, people, read_web_settings(self.folder), bank), fault

    def _now(self) -> tuple[FileStamp, ...]:
        problems = self.folder / "problems"
        files = [*(self.folder / name for name in _FILES), *sorted(problems.rglob("*"))]
        return tuple(file_stamp(path) for path in files)
