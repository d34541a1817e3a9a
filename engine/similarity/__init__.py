"""Find hand-ins that are more alike than chance explains: evidence for a person to read, never a verdict.

``grade similar`` alone uses this package: whoever doesn't change that command can ignore it. It needs no
extra beyond what Softmark installs. Code is compared in a normal form (made by
:mod:`.rewrite` and :mod:`.tokens`) by the rare pieces that two files share (:mod:`.fingerprints`,
:mod:`.compare`); wrong answers are compared with the keys of classmates (:mod:`.answers`).
"""

from __future__ import annotations
