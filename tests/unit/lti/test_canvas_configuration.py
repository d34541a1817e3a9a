"""What Canvas reads is what docs/lti.md shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

from engine.lti.registrations import ToolAddresses, canvas_configuration

DOCS = Path(__file__).parents[3] / "docs" / "lti.md"
SITE = "https://marks.example.edu"


def test_the_listing_of_the_docs_is_what_the_site_answers() -> None:
    (listing,) = re.findall(
        r"^```json\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    ours = ToolAddresses(
        "Attention", f"{SITE}/", f"{SITE}/lti/login", f"{SITE}/lti/launch", f"{SITE}/lti/keys"
    )
    assert json.loads(listing) == canvas_configuration(ours)


def test_a_site_behind_a_prefix_names_its_domain_without_it() -> None:
    base = f"{SITE}:8443/nlp"
    ours = ToolAddresses("T", f"{base}/", f"{base}/lti/login", f"{base}/lti/launch", f"{base}/lti/keys")
    (extension,) = canvas_configuration(ours)["extensions"]
    assert extension["domain"] == "marks.example.edu:8443"
