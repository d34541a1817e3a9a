"""Questions of other systems as problem files: Moodle XML, GIFT, QTI and OLX.

An extra for ``grade import``: nothing else in the engine imports this package, so that whoever doesn't move
question banks can ignore it. It needs no optional dependency.

Each format has a reader (:mod:`~engine.authoring.importing.moodle_xml`,
:mod:`~engine.authoring.importing.gift`, :mod:`~engine.authoring.importing.qti3`,
:mod:`~engine.authoring.importing.canvas_qti`, :mod:`~engine.authoring.importing.olx_course`; packages are
found by :mod:`~engine.authoring.importing.package_entries`) that turns a file into neutral questions
(:mod:`~engine.authoring.importing.foreign_question`); :mod:`~engine.authoring.importing.item_drafts` turns
those into items, whatever they came from, and :mod:`~engine.authoring.importing.import_file` does it all.
"""

from __future__ import annotations
