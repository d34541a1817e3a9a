"""Registering a learning system: by a link that works once, field by field, and by what Canvas reads."""

from __future__ import annotations

import html

import pytest

from engine.store import Store
from engine.web.site import Site
from tests.live.lms import Lms, LmsFault
from tests.live.lti_site import Browser, forms
from tests.web.lti.conftest import page, sentence

SCOPES = "https://purl.imsglobal.org/spec/lti-ags/scope/"


def test_dynamic_registration_by_a_link_that_works_once(
    ivy: Browser, lms: Lms, store: Store, served_site: Site
) -> None:
    made = ivy.submit(page(ivy, served_site, "/staff/lms"), "/staff/lms/invite")
    url = html.unescape(made.text.split('value="' + served_site.address + "/lti/register/")[1].split('"')[0])
    url = f"{served_site.address}/lti/register/{url}"
    parameters = {
        "openid_configuration": f"{lms.address}/configuration",
        "registration_token": "registration-token",
    }
    with Browser() as admin:
        assert "isn&#39;t for a browser" in sentence(admin.get(url))
        bad = {**parameters, "openid_configuration": "http://intranet.example/configuration"}
        assert "can&#39;t be used" in sentence(admin.get(url, params=bad))
        shown = admin.get(url, params=parameters)
        assert lms.address in shown.text
        assert f"frame-ancestors 'self' {lms.address}" in shown.headers["content-security-policy"]
        assert lms.registrations == []  # nothing happens before somebody says so
        (form,) = forms(shown.text)
        done = admin.post(url, data=form.fields)
        assert done.status_code == 200 and "Moodle at 127.0.0.1" in done.text
        assert "was used before" in sentence(admin.post(url, data=form.fields))
    (data,) = lms.registrations
    assert data["initiate_login_uri"] == f"{served_site.address}/lti/login"
    assert data["redirect_uris"] == [f"{served_site.address}/lti/launch"]
    assert data["jwks_uri"] == f"{served_site.address}/lti/keys"
    assert set(data["scope"].split()) >= {f"{SCOPES}lineitem", f"{SCOPES}score"}
    tool = data["https://purl.imsglobal.org/spec/lti-tool-configuration"]
    assert tool["custom_parameters"]["student_id"] == "$Person.sourcedId"
    assert {m["type"] for m in tool["messages"]} == {"LtiResourceLinkRequest", "LtiDeepLinkingRequest"}
    platform = store.lti.platforms()[-1]
    assert (platform.client_id, platform.deployments, platform.by) == (
        "registered-1",
        ("deployment-1",),
        "ivy",
    )
    with Browser() as ivy_again:
        assert ivy_again.click(lms, "u-ivy").status_code == 303


@pytest.mark.parametrize(
    ("path", "body", "part"),
    [
        ("/configuration", b"<html>", "can&#39;t be read"),
        ("/configuration", b"[]", "can&#39;t be read"),
        ("/configuration", b'{"issuer": 5}', "can&#39;t be read"),
        ("/register", b"null", "can&#39;t be read"),
        ("/register", b'{"client_id": ["x"]}', "can&#39;t be read"),
        (
            "/register",
            b'{"client_id": ["x"], "https://purl.imsglobal.org/spec/lti-tool-configuration": {}}',
            "client id is missing",
        ),
    ],
)
def test_registrations_that_fail_say_why(
    ivy: Browser, lms: Lms, served_site: Site, path: str, body: bytes, part: str
) -> None:
    made = ivy.submit(page(ivy, served_site, "/staff/lms"), "/staff/lms/invite")
    token = made.text.split("/lti/register/")[1].split('"')[0]
    lms.faults.append(LmsFault(path, 200, body))
    fields = {
        "openid_configuration": f"{lms.address}/configuration",
        "registration_token": "registration-token",
    }
    answer = ivy.post(f"{served_site.address}/lti/register/{token}", data=fields)
    assert part in sentence(answer).lower() and answer.status_code == 400


def test_registration_by_hand(ivy: Browser, store: Store, served_site: Site) -> None:
    form = page(ivy, served_site, "/staff/lms/new?kind=moodle&base=http://127.0.0.1:1/m/")
    for url in ("/mod/lti/auth.php", "/mod/lti/token.php", "/mod/lti/certs.php"):
        assert f"http://127.0.0.1:1/m{url}" in form.text
    assert f"{served_site.address}/lti/launch" in form.text
    fields = {
        "issuer": "https://moodle.example.edu",
        "client_id": "abc",
        "login_url": "https://moodle.example.edu/auth",
        "token_url": "https://moodle.example.edu/token",
        "keys_url": "http://moodle.example.edu/certs",
        "deployments": "1 2",
    }
    wrong = ivy.submit(form, "/staff/lms/new", **fields)
    assert wrong.status_code == 400 and "the address of its public keys can&#39;t be used" in wrong.text
    assert 'value="abc"' in wrong.text  # what was typed is still there
    fields["keys_url"] = "https://moodle.example.edu/certs"
    right = ivy.follow(ivy.submit(form, "/staff/lms/new", **fields))
    assert "moodle.example.edu is registered" in right.text
    platform = store.lti.platforms()[-1]
    assert platform.deployments == ("1", "2") and platform.by == "ivy"


# What Canvas's documentation of "Configuring LTI Advantage Tools" names.
CANVAS_NEEDS = ("title", "description", "oidc_initiation_url", "target_link_uri", "public_jwk_url")
CANVAS_TAKES = {*CANVAS_NEEDS, "scopes", "extensions", "custom_fields"}
CANVAS_EXTENSION = {"domain", "tool_id", "platform", "privacy_level", "settings"}
CANVAS_SCOPES = {
    *(f"{SCOPES}{name}" for name in ("lineitem", "lineitem.readonly", "result.readonly", "score")),
    "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly",
    "https://canvas.instructure.com/lti/public_jwk/scope/update",
}


def test_canvas_reads_its_configuration_from_an_address(
    ivy: Browser, lms: Lms, store: Store, served_site: Site
) -> None:
    address = f"{served_site.address}/lti/canvas.json"
    with Browser() as canvas:  # nobody is signed in there
        answer = canvas.get(address)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    key = answer.json()
    assert set(key) <= CANVAS_TAKES
    assert all(isinstance(key[name], str) and key[name] for name in CANVAS_NEEDS)
    # The only redirect URI that Canvas takes from it is the target.
    assert key["target_link_uri"] == f"{served_site.address}/lti/launch"
    assert key["oidc_initiation_url"] == f"{served_site.address}/lti/login"
    with Browser() as canvas:
        assert canvas.get(key["public_jwk_url"]).json()["keys"]
    assert set(key["scopes"]) <= CANVAS_SCOPES and len(key["scopes"]) == 3
    (extension,) = key["extensions"]
    assert set(extension) == CANVAS_EXTENSION
    assert (extension["platform"], extension["privacy_level"]) == ("canvas.instructure.com", "public")
    places = {(p["placement"], p["message_type"]) for p in extension["settings"]["placements"]}
    assert places == {
        ("assignment_selection", "LtiDeepLinkingRequest"),
        ("link_selection", "LtiDeepLinkingRequest"),
        ("course_navigation", "LtiResourceLinkRequest"),
    }
    assert all(p["target_link_uri"] == key["target_link_uri"] for p in extension["settings"]["placements"])
    assert key["custom_fields"]["student_id"] == "$Person.sourcedId"
    assert (
        "PRIVATE" not in answer.text and lms.client_id not in answer.text and lms.address not in answer.text
    )
    assert address in page(ivy, served_site, "/staff/lms/new").text
