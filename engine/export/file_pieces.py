"""What the files of all formats are made of: characters that XML can hold, archives with stable bytes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

# What XML 1.0 has no way to write, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# the first moment that an archive can state
_MOMENT = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16


def xml_characters(text: str) -> str:
    """Return a text without what XML can't hold."""
    return _NOT_XML.sub("", text)


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive whose bytes depend on nothing but the files, in the order given.

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
