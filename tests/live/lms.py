"""A learning system for tests: the platform side of the independent package ``lti1p3platform`` behind HTTP.

It signs launches, gives access tokens for signed requests, lists members page by page, keeps columns and
marks, and checks what is sent back from deep linking. Tests can have it refuse, answer garbage, or be slow.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey
from lti1p3platform.exceptions import LineItemNotFoundException, LtiException
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.membership import Context
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request, TRequest
from lti1p3platform.response import Response, generate_next_link
from lti1p3platform.score import ActivityProgress, GradeProgress, UpdateScoreStatus
from lti1p3platform.service_connector import AssignmentsGradesService, NamesRoleProvisioningService

LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
ASSISTANT = "http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant"
MENTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Mentor"


@dataclass
class LmsMember:
    """A user of the learning system."""

    id: str
    name: str
    email: str
    roles: tuple[str, ...] = (LEARNER,)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class LmsFault:
    """What the next requests to a path get in the place of an answer."""

    path: str
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    times: int = 1_000_000
    drop: bool = False  # the answer is lost on its way, though the request was done


@dataclass
class _Asked(Request):
    """A request as the package wants it."""

    def __init__(self, request: TRequest) -> None:
        super().__init__(request)

    def build_metadata(self, request: Any) -> TRequest:
        return request


class _Platform(LTI1P3PlatformConfAbstract):
    def init_platform_config(self, **kwargs: Any) -> None:
        self.lms: Lms = kwargs["lms"]
        self._registration = kwargs["registration"]

    def get_registration_by_params(self, **kwargs: Any) -> Registration:
        return self._registration

    def get_tool_key_set(self) -> Any:
        if self.lms.tool_keys is not None:
            return self.lms.tool_keys()
        return super().get_tool_key_set()


class _Login(OIDCLoginAbstract):
    def set_lti_message_hint(self, **kwargs: Any) -> None:
        self._lti_message_hint = kwargs["hint"]

    def get_redirect(self, url: str) -> str:
        return url


class _Launch(LTIAdvantageMessageLaunchAbstract):
    def render_launch_form(self, launch_data: dict[str, Any], **kwargs: Any) -> str:
        fields = "".join(
            f'<input type="hidden" name="{name}" value="{escape(launch_data[name])}">'
            for name in ("state", "id_token")
        )
        url = escape(launch_data["launch_url"])
        return (
            f'<form id="launch" method="post" action="{url}">{fields}<button>Go on</button></form>'
            '<script>document.getElementById("launch").submit()</script>'
        )


class _Grades(AssignmentsGradesService):
    lms: Lms

    def find_lineitems(self, page: int = 1, limit: int | None = None, **_: Any) -> Any:
        return {"content": list(self.lms.items.values()), "has_next": False, "next": None}

    def find_lineitem(self, line_item_id: str) -> Any:
        if line_item_id not in self.lms.items:
            raise LineItemNotFoundException
        return self.lms.items[line_item_id]

    def create_lineitem(self, creation_data: Any) -> Any:
        number = str(len(self.lms.items) + 1)
        item = {**creation_data, "id": f"{self.lms.address}/items/{number}"}
        self.lms.items[number] = item
        return item

    def update_lineitem(self, update_data: Any) -> Any:
        raise NotImplementedError

    def delete_lineitem(self, line_item_id: str) -> None:
        raise NotImplementedError

    def update_score(self, line_item_id: str, score: Any) -> UpdateScoreStatus:
        if line_item_id not in self.lms.items:
            raise LineItemNotFoundException
        # The package checks nothing: what isn't as the standard has it is a ValueError here.
        ActivityProgress(score["activityProgress"]), GradeProgress(score["gradingProgress"])
        if datetime.fromisoformat(score["timestamp"]).tzinfo is None:
            raise ValueError("a time without its zone")
        if "scoreGiven" in score and not (score["scoreGiven"] >= 0 and score["scoreMaximum"] > 0):
            raise ValueError("no score")
        key = (line_item_id, score["userId"])
        known = self.lms.marks.get(key)
        if known is not None and known["timestamp"] >= score["timestamp"]:
            return UpdateScoreStatus.OLD_TIMESTAMP
        self.lms.marks[key] = score
        self.lms.received.append(score)
        return UpdateScoreStatus.SUCCESS

    def get_results(self, line_item_id: str, **_: Any) -> Any:
        return {"content": [], "has_next": False, "next": None}


class _Members(NamesRoleProvisioningService):
    lms: Lms

    def get_member_data_page(self, page: int = 1, limit: int | None = None, **_: Any) -> Any:
        members = [
            {"user_id": m.id, "name": m.name, "email": m.email, "roles": list(m.roles), **m.extra}
            for m in self.lms.members.values()
        ]
        size = limit or len(members)
        start = (page - 1) * size
        return {"content": members[start : start + size], "has_next": start + size < len(members)}

    def get_context_by_id(self) -> Context:
        return Context("course-7", "ATT", "Attention")


# Keys of learning systems that are closed: to find the primes of a new one takes longer than most tests.
_free_keys: list[RSAKey] = []


class Lms:
    """The learning system, which listens on a port of this machine."""

    def __init__(self, tool: str) -> None:
        self.client_id = "client-1"
        self.deployment = "deployment-1"
        self.key = self._first_key = (
            _free_keys.pop() if _free_keys else RSAKey.generate_key(2048, auto_kid=True)
        )
        self.tool = tool
        self.tool_keys: Callable[[], Any] | None = None
        self.members: dict[str, LmsMember] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.marks: dict[tuple[str, str], dict[str, Any]] = {}
        self.received: list[dict[str, Any]] = []
        self.chosen: list[dict[str, Any]] = []
        self.faults: list[LmsFault] = []
        self.requests: list[str] = []
        self.clients: list[str] = []  # which clients have asked for an access token
        self.registrations: list[dict[str, Any]] = []
        self.page = 2  # members on a page
        self.published: Callable[[], dict[str, Any]] = lambda: {"keys": [self.public_key()]}
        # What the next launches are: changed by tests.
        self.launch: Callable[[_Launch], None] = lambda launch: None
        self.token: Callable[[dict[str, Any]], str] = self.sign
        handler = type("Handler", (_Handler,), {"lms": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        _free_keys.append(self._first_key)

    def public_key(self) -> dict[str, Any]:
        return {**self.key.as_dict(private=False), "alg": "RS256", "use": "sig"}

    def registration(self) -> Registration:
        return (
            Registration()
            .set_iss(self.address)
            .set_client_id(self.client_id)
            .set_deployment_id(self.deployment)
            .set_launch_url(f"{self.tool}/lti/launch")
            .set_deeplink_launch_url(f"{self.tool}/lti/launch")
            .set_oidc_login_url(f"{self.tool}/lti/login")
            .set_tool_key_set_url(f"{self.tool}/lti/keys")
            .set_platform_public_key(self.key.as_pem(private=False).decode())
            .set_platform_private_key(self.key.as_pem(private=True).decode())
        )

    def platform(self) -> _Platform:
        return _Platform(lms=self, registration=self.registration())

    def values(self) -> dict[str, Any]:
        """Return the registration as the tool's form takes it."""
        return {
            "issuer": self.address,
            "client_id": self.client_id,
            "name": "Test LMS",
            "login_url": f"{self.address}/auth",
            "token_url": f"{self.address}/token",
            "keys_url": f"{self.address}/jwks",
            "audience": None,
            "deployments": [],
        }

    def grade(self, user: str, item: str = "1") -> float | None:
        """Return what a user's cell of the gradebook has, as Moodle and Canvas fill it."""
        mark = self.marks.get((item, user), {})
        if mark.get("gradingProgress") != "FullyGraded" or "scoreGiven" not in mark:
            return None
        return float(mark["scoreGiven"] * self.items[item]["scoreMaximum"] / mark["scoreMaximum"])

    def login_url(self, user: str, hint: str = "link-1") -> str:
        """Return where a user's browser is sent who clicks a link."""
        login = _Login(None, self.platform())
        login.set_lti_message_hint(hint=hint)
        return str(login.prepare_preflight_url(user))

    def sign(self, claims: dict[str, Any], key: RSAKey | None = None, **header: Any) -> str:
        signing = key or self.key
        return jwt.encode({"alg": "RS256", "kid": self.key.kid, **header}, claims, signing)

    def auth(self, query: dict[str, Any]) -> str:
        """Answer the tool's authentication request with a form that carries the signed launch."""
        member = self.members[query["login_hint"]]
        launch = _Launch(_Asked(_request("GET", "/auth", query)), self.platform())
        launch.set_user_data(member.id, list(member.roles), member.name, member.email)
        launch.set_resource_link_claim(query.get("lti_message_hint", "link-1"), title="Week 1")
        launch.set_launch_context_claim("course-7", context_title="Attention")
        launch.set_launch_presentation_claim("iframe", f"{self.address}/course/7")
        launch.set_nrps(f"{self.address}/members?limit={self.page}")
        self.launch(launch)
        # The package signs by itself; here each test may put something else in its place.
        original = Registration.platform_encode_and_sign

        def signed(registration: Registration, payload: dict[str, Any], expiration: int | None = None) -> str:
            now = int(time.time())
            return self.token({**payload, "iat": now, "exp": now + (expiration or 300)})

        Registration.platform_encode_and_sign = signed  # type: ignore[method-assign]
        try:
            return str(launch.lti_launch())
        finally:
            Registration.platform_encode_and_sign = original  # type: ignore[method-assign]

    def service(self, method: str, path: str, query: dict[str, Any], body: bytes, headers: Any) -> Response:
        asked = _Asked(
            {**_request(method, path, query), "json": json.loads(body) if body else None, "headers": headers}
        )
        if path == "/members":
            members = _Members(asked, self.platform(), f"{self.address}/members")
            members.lms = self
            return members.handle_resp(members.handle_get_members)
        parts = path.strip("/").split("/")
        number = parts[1] if len(parts) > 1 else None
        item = f"{self.address}/items/{number}" if number else None
        grades = _Grades(asked, self.platform(), f"{self.address}/items", item)
        grades.lms = self
        if number is None:
            handle = grades.handle_get_lineitems if method == "GET" else grades.handle_create_lineitem
            return grades.handle_resp(handle)
        handle = grades.handle_update_score if parts[-1] == "scores" else grades.handle_get_lineitem
        return grades.handle_resp(handle, line_item_id=number)


def _request(method: str, path: str, query: dict[str, Any]) -> TRequest:
    numbers = {name: int(v) if name in ("page", "limit") else v for name, v in query.items()}
    return {"method": method, "path": path, "get_data": numbers, "form_data": {}, "headers": {}, "json": None}


class _Handler(BaseHTTPRequestHandler):
    lms: Lms

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("content-length", 0))))

    def _answer(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        self.lms.requests.append(f"{self.command} {parts.path}")
        fault = next((f for f in self.lms.faults if re.fullmatch(f.path, parts.path) and f.times > 0), None)
        if fault is not None:
            fault.times -= 1
            time.sleep(fault.seconds)
            if fault.drop:
                self._done(parts.path, query, body)
                self.close_connection = True
                return
            self._send(fault.status, fault.body, {"Content-Type": "application/json", **fault.headers})
            return
        try:
            status, answer, headers = self._done(parts.path, query, body)
        except (LtiException, ValueError, KeyError) as error:
            status, answer, headers = 400, json.dumps({"error": repr(error)}).encode(), {}
        self._send(status, answer, headers)

    def _done(self, path: str, query: dict[str, Any], body: bytes) -> tuple[int, bytes, Mapping[str, str]]:
        lms, as_json = self.lms, {"Content-Type": "application/json"}
        if path == "/jwks":
            return 200, json.dumps(lms.published()).encode(), as_json
        if path == "/auth":
            return 200, lms.auth(query).encode(), {"Content-Type": "text/html; charset=utf-8"}
        if path == "/course":  # a page of a course that shows a tool inside itself
            frame = escape(lms.login_url(query["user"], query["link"]))
            page = f'<h1>Course</h1><iframe name="tool" width="900" height="700" src="{frame}"></iframe>'
            return 200, page.encode(), {"Content-Type": "text/html; charset=utf-8"}
        if path == "/token":
            form = dict(parse_qsl(body.decode()))
            token = lms.platform().get_access_token(form)
            payload = form["client_assertion"].split(".")[1]
            lms.clients.append(
                json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["iss"]
            )
            return 200, json.dumps(token).encode(), as_json
        if path == "/deep-link":
            lms.chosen += lms.platform().validate_deeplinking_resp(dict(parse_qsl(body.decode())))
            return 200, b"<p>chosen</p>", {"Content-Type": "text/html"}
        if path == "/configuration":
            return 200, json.dumps(self._configuration()).encode(), as_json
        if path == "/register":
            return 201, json.dumps(self._register(json.loads(body))).encode(), as_json
        if path in ("/members", "/items") or path.startswith("/items/"):
            answer = lms.service(self.command, path, query, body, self.headers)
            return answer.code, *_of_service(answer)
        return 404, b"", {}

    def _configuration(self) -> dict[str, Any]:
        self._check_token()
        lms = self.lms
        return {
            "issuer": lms.address,
            "authorization_endpoint": f"{lms.address}/auth",
            "registration_endpoint": f"{lms.address}/register",
            "token_endpoint": f"{lms.address}/token",
            "jwks_uri": f"{lms.address}/jwks",
            "https://purl.imsglobal.org/spec/lti-platform-configuration": {
                "product_family_code": "moodle",
                "version": "4.5",
            },
        }

    def _check_token(self) -> None:
        if self.headers.get("authorization") != "Bearer registration-token":
            raise ValueError("no token")

    def _register(self, data: dict[str, Any]) -> dict[str, Any]:
        self._check_token()
        self.lms.registrations.append(data)
        self.lms.client_id = f"registered-{len(self.lms.registrations)}"
        tool = "https://purl.imsglobal.org/spec/lti-tool-configuration"
        return {**data, "client_id": self.lms.client_id, tool: {"deployment_id": self.lms.deployment}}

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _of_service(answer: Response) -> tuple[bytes, Mapping[str, str]]:
    headers = {"Content-Type": answer.media_type}
    if not 200 <= answer.code < 300:
        return json.dumps({"error": answer.message}).encode(), headers
    result = answer.result
    if isinstance(result, dict) and result.get("next"):
        headers["Link"] = generate_next_link(result["next"])
    content = result["content"] if isinstance(result, dict) and "content" in result else result
    return b"" if content is None else json.dumps(content).encode(), headers


@contextmanager
def learning_system(tool: str) -> Iterator[Lms]:
    """Run a learning system in which a tool is registered."""
    lms = Lms(tool)
    try:
        yield lms
    finally:
        lms.close()
