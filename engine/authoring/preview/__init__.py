"""``grade preview``: a page of one item on this machine alone, redrawn on every save.

A thread follows the file and makes a :class:`~engine.authoring.preview.look.Look` of each save; the server
shows the last one and tells open pages that there is another.
"""
