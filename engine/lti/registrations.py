"""How a learning system is registered: by hand, by dynamic registration, or by a file that Canvas reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pylti1p3.dynamic_registration import DynamicRegistration
from pylti1p3.exception import LtiException, LtiServiceException

from engine.errors import LtiError
from engine.lti.platform_http import PlatformSession, check_url, is_local
from engine.lti.service_calls import LINE_ITEM_SCOPE, MEMBER_SCOPE, SCORE_SCOPE
from engine.text.words import clean_line, count_noun

_TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
_PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
_SCOPES = (LINE_ITEM_SCOPE, SCORE_SCOPE, MEMBER_SCOPE)
_CLAIMS = ("iss", "sub", "name", "given_name", "family_name", "email")

_DESCRIPTION = "Quizzes and code exercises that are marked at once"
_PLACEMENTS = {
    "LtiResourceLinkRequest": ["course_navigation"],
    "LtiDeepLinkingRequest": ["assignment_selection", "link_selection"],
}

# What a launch should tell us about its user, by our names; a system fills in what it knows.
CUSTOM = {
    "student_id": "$Person.sourcedId",
    "login": "$User.username",
    "lms_id": "$User.id",
}


@dataclass(frozen=True, slots=True)
class ToolAddresses:
    """Our own addresses, as learning systems are given them.

    Parameters
    ----------
    title : str
        Of the course.
    home, login, launch, keys : str
        The first page, where launches begin, where they end, and our public keys.
    """

    title: str
    home: str
    login: str
    launch: str
    keys: str

    @property
    def is_local(self) -> bool:
        """Whether the site itself runs for trying out, on this machine."""
        return is_local(self.home)


def canvas_configuration(addresses: ToolAddresses) -> dict[str, Any]:
    """Return the configuration of an LTI key as Canvas takes it, pasted or fetched from its address.

    There is nothing secret in it.
    """
    placements = [
        {"placement": placement, "message_type": message, "target_link_uri": addresses.launch}
        for message, names in _PLACEMENTS.items()
        for placement in names
    ]
    extension = {
        "platform": "canvas.instructure.com",
        "domain": urlsplit(addresses.home).netloc,
        "tool_id": "softmark",
        "privacy_level": "public",
        "settings": {"text": addresses.title, "placements": placements},
    }
    return {
        "title": addresses.title,
        "description": _DESCRIPTION,
        "target_link_uri": addresses.launch,
        "oidc_initiation_url": addresses.login,
        "public_jwk_url": addresses.keys,
        "scopes": list(_SCOPES),
        "extensions": [extension],
        "custom_fields": dict(CUSTOM),
    }


@dataclass(frozen=True, slots=True)
class UsualAddresses:
    """Where one kind of learning system has its services, as patterns of its base address."""

    login: str
    token: str
    keys: str
    issuer: str = "{base}"


# Those of Canvas are the same for all schools that are hosted.
USUAL: Mapping[str, UsualAddresses] = {
    "moodle": UsualAddresses(
        "{base}/mod/lti/auth.php", "{base}/mod/lti/token.php", "{base}/mod/lti/certs.php"
    ),
    "canvas": UsualAddresses(
        "https://sso.canvaslms.com/api/lti/authorize_redirect",
        "https://sso.canvaslms.com/login/oauth2/token",
        "https://sso.canvaslms.com/api/lti/security/jwks",
        "https://canvas.instructure.com",
    ),
    "sakai": UsualAddresses(
        "{base}/imsoidc/lti13/oidc_auth", "{base}/imsblis/lti13/token", "{base}/imsblis/lti13/keyset"
    ),
}


def usual_values(kind: str, base: str) -> dict[str, str]:
    """Return the addresses that a kind of learning system usually has.

    Parameters
    ----------
    kind : str
        A key of :data:`USUAL`.
    base : str
        Its own address; Canvas needs none.
    """
    usual, base = USUAL[kind], base.rstrip("/")
    return {
        "issuer": usual.issuer.format(base=base),
        "login_url": usual.login.format(base=base),
        "token_url": usual.token.format(base=base),
        "keys_url": usual.keys.format(base=base),
    }


_URLS = {
    "login_url": "the address of the authentication request",
    "token_url": "the address of access tokens",
    "keys_url": "the address of its public keys",
}
_MOST = {"issuer": 500, "client_id": 300, "name": 200, "audience": 500}


def registration_values(fields: Mapping[str, str], *, local: bool) -> dict[str, Any]:
    """Return what is stored of a registration.

    Parameters
    ----------
    fields : mapping of str to str
        ``issuer``, ``client_id``, ``login_url``, ``token_url``, ``keys_url``; if need be ``name``,
        ``audience``, and ``deployments``, separated by blanks or lines.
    local : bool
        Whether a learning system on this machine is fine.

    Raises
    ------
    LtiError
        A field is missing or can't be used.
    """
    values: dict[str, Any] = {name: fields.get(name, "").strip() for name in (*_URLS, *_MOST)}
    check_url(values["issuer"], "the issuer", local=local)
    for name, noun in _URLS.items():
        check_url(values[name], noun, local=local)
    if not values["client_id"]:
        raise LtiError(
            "the client id is missing",
            next_step="copy it from the learning system: it gives one to each registered tool",
        )
    values["name"] = values["name"] or urlsplit(values["issuer"]).netloc
    for name, most in _MOST.items():
        if len(values[name]) > most or not values[name].isprintable():
            raise LtiError(
                f"the {name.replace('_', ' ')} can't be used",
                expected=f"at most {count_noun(most, 'character')}",
            )
    values["audience"] = values["audience"] or None
    values["deployments"] = fields.get("deployments", "").split()
    if any(len(deployment) > 300 for deployment in values["deployments"]):
        raise LtiError("a deployment id can't be used", expected="at most 300 characters")
    return values


class _Registration(DynamicRegistration):
    """The library's dynamic registration with our addresses, over our bounded session."""

    def __init__(self, addresses: ToolAddresses, configuration: str, token: str | None, local: bool) -> None:
        self._addresses = addresses
        self._configuration = configuration
        self._token = token
        self._local = local
        self.client_name = addresses.title
        self.description = _DESCRIPTION

    def get_request_session(self) -> PlatformSession:
        return PlatformSession(local=self._local)

    def get_initiate_login_uri(self) -> str:
        return self._addresses.login

    def get_jwks_uri(self) -> str:
        return self._addresses.keys

    def get_redirect_uris(self) -> list[str]:
        return [self._addresses.launch]

    def get_scopes(self) -> list[str]:
        return list(_SCOPES)

    def get_domain(self) -> str:
        return urlsplit(self._addresses.home).netloc

    def get_target_link_uri(self) -> str:
        return self._addresses.launch

    def get_claims(self) -> list[str]:
        return list(_CLAIMS)

    def get_messages(self) -> list[dict[str, str]]:
        uri = {"target_link_uri": self._addresses.launch, "label": self._addresses.title}
        return [{"type": "LtiResourceLinkRequest", **uri}, {"type": "LtiDeepLinkingRequest", **uri}]

    def get_openid_configuration(self) -> dict[str, Any]:
        # The library leaves the token out, with which Canvas protects this address.
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        with self.get_request_session() as session:
            response = session.get(self._configuration, headers=headers)
        if not response.ok:
            raise LtiServiceException("no configuration", response)
        configuration: dict[str, Any] = response.json()
        return configuration

    def lti_registration_data(self) -> dict[str, Any]:
        data: dict[str, Any] = super().lti_registration_data()
        tool = data[_TOOL]
        tool["custom_parameters"] = dict(CUSTOM)
        # What only Canvas reads: who may be told apart, and where in a course the tool can be opened.
        tool["https://canvas.instructure.com/lti/privacy_level"] = "public"
        for message in tool["messages"]:
            message["placements"] = _PLACEMENTS[message["type"]]
        del data["logo_uri"]
        return data

    def get_logo_uri(self) -> str:
        return ""

    def get_openid_configuration_endpoint(self) -> str:
        return self._configuration

    def get_registration_token(self) -> str:
        return self._token  # type: ignore[return-value]  # the library sends no header for None

    def complete_registration(
        self, openid_configuration: dict[str, Any], openid_registration: dict[str, Any]
    ) -> dict[str, Any]:
        tool = openid_registration.get(_TOOL)
        deployment = tool.get("deployment_id") if isinstance(tool, dict) else None
        platform = openid_configuration.get(_PLATFORM)
        family = platform.get("product_family_code") if isinstance(platform, dict) else None
        fields = {
            "issuer": openid_configuration.get("issuer"),
            "client_id": openid_registration.get("client_id"),
            "login_url": openid_configuration.get("authorization_endpoint"),
            "token_url": openid_configuration.get("token_endpoint"),
            "keys_url": openid_configuration.get("jwks_uri"),
            "audience": openid_configuration.get("authorization_server"),
            "deployments": deployment,
        }
        texts = {name: value if isinstance(value, str) else "" for name, value in fields.items()}
        host = urlsplit(self._configuration).netloc
        texts["name"] = (
            f"{clean_line(family, 40).capitalize()} at {host}" if isinstance(family, str) else host
        )
        return registration_values(texts, local=self._local)


def register_dynamically(addresses: ToolAddresses, configuration: str, token: str | None) -> dict[str, Any]:
    """Register us with a learning system that sent its configuration, and return what is to be stored.

    Parameters
    ----------
    addresses : ToolAddresses
    configuration : str
        Address of its OpenID configuration.
    token : str or None
        What it gave for this one registration.

    Raises
    ------
    LtiError
        It refuses, or its answers can't be used.
    """
    local = addresses.is_local
    check_url(configuration, "the address of the OpenID configuration", local=local)
    step = "begin the registration again in the learning system, or enter the addresses by hand"
    try:
        values: dict[str, Any] = _Registration(addresses, configuration, token, local).register()
    except LtiServiceException as error:
        if error.response.ok:  # what it says isn't JSON
            raise _unreadable(step) from error
        raise LtiError(
            "the learning system refuses the registration",
            got=f"status {error.response.status_code}",
            next_step=step,
        ) from error
    # Answers of other types than the library expects end as one of these.
    except (LtiException, AssertionError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(step) from error
    return values


def _unreadable(step: str) -> LtiError:
    return LtiError("the learning system's answer to the registration can't be read", next_step=step)
