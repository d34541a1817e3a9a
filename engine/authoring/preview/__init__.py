"""``grade preview``: a page of one item on this machine alone, redrawn on every save.

A thread watches the file and makes a :class:`~engine.authoring.preview.follow.PreviewState` of each save;
the server shows the latest one and tells open pages to reload.
"""

from __future__ import annotations
