"""Questions of other systems: Moodle XML and GIFT files into problem files.

Each format has a reader (:mod:`~engine.authoring.importing.moodle_xml`,
:mod:`~engine.authoring.importing.gift`) that turns a file into neutral questions;
:mod:`~engine.authoring.importing.item_drafts` turns those into items, whatever they came from.
"""

from __future__ import annotations
