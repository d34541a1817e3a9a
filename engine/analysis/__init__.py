"""Item analysis of a class: from the store to figures of items, options, variants, mistakes and checks.

An extra for ``grade report``: nothing else in the engine imports this package, so that whoever doesn't
analyse items can ignore it. It runs without optional dependencies; with ``pip install "softmark[stats]"``
(scipy, matplotlib) there are also tests, models and figures; without them the report says what is missing.

``first_attempts`` reads the store, ``item_figures`` and ``mistakes`` count, ``class_report`` builds the whole
report, ``report_page``, ``plots`` and ``report_tables`` write it. ``statistics`` is pure.
"""

from __future__ import annotations
