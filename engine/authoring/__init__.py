"""For people who write items: files to begin with, and a live preview of what is being written.

Import from the modules: :mod:`~engine.authoring.scaffold` is light, :mod:`engine.authoring.preview` loads
all of drawing, lint and a web server.
"""

from __future__ import annotations
