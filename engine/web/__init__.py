"""``grade serve``: the class on the web. An extra: nothing but its own command imports it.

The site shows and calls what the rest of the engine does; no mark is computed here. ``site.py`` is the course
being served, ``visit.py`` one request as a view sees it, ``routes.py`` the list of all pages, and
``application.py`` puts them behind sign-in, limits and security headers. Views are ordinary functions from
:class:`~engine.web.visit.Visit` to a response, one module for each part of the site: ``student/``,
``instructor/``, ``sign_in/``, ``lti/``.
"""

from __future__ import annotations
