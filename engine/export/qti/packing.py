"""Files into a zip archive whose bytes depend on nothing but the files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

# the first moment that an archive can state
_MOMENT = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """Return an archive with files in the order given.

    Parameters
    ----------
    files : mapping of str to str or bytes
        Content by path; text becomes UTF-8.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _MOMENT)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _MODE
            archive.writestr(entry, content.encode() if isinstance(content, str) else content)
    return out.getvalue()
