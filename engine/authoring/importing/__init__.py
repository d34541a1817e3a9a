"""Questions of other systems, Moodle XML and GIFT files, as problem files.

An extra for ``grade import``: nothing else in the engine imports this package, so that whoever doesn't move
question banks can ignore it. It needs no optional dependency.

Each format has a reader (:mod:`~engine.authoring.importing.moodle_xml`,
:mod:`~engine.authoring.importing.gift`) that turns a file into neutral questions
(:mod:`~engine.authoring.importing.foreign_question`); :mod:`~engine.authoring.importing.item_drafts` turns
those into items, whatever they came from, and :mod:`~engine.authoring.importing.import_file` does it all.
"""

from __future__ import annotations
