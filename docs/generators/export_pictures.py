"""Takes the pictures of docs/export-pictures: items in two QTI players, answered and marked.

Usage: python -m docs.generators.export_pictures [OUT], in the repository, after ``make browser clients``
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageChops

from docs.generators.web_pictures import small
from engine.export.exported_item import ExportedFamily, ExportedQuiz, exported_item
from engine.export.qti.package_files import package_files
from engine.items.bank import builtin_bank
from engine.variants import draw_seeded
from tests.clients.qti_players import PLAYERS, players

OUT = "docs/export-pictures"
SEED = 3
WIDTH, HEIGHT = 820, 620
# item: what is answered (None shows it as a candidate finds it)
VIEWS: Mapping[str, Mapping[str, str | Sequence[str]] | None] = {
    "softmax-weights": {"RESPONSE_1": "0.1", "RESPONSE_2": "0.2", "RESPONSE_3": "0.7"},
    "sdpa-matrix": None,
    "limiting-cases": {"RESPONSE": ["P01 T-a", "P02 T-b"]},
    "decoder-step-order": {"RESPONSE": ["b", "a"]},
    "alignment-read": None,
}
# MathML needs a font with stretching brackets: platforms bring their own, and so do these pictures.
_MATHS_FONT = """() => {
  const rule = "math { font-family: 'DejaVu Math TeX Gyre', math; }";
  const dress = root => {
    const style = document.createElement("style");
    style.textContent = rule;
    (root.head ?? root).append(style);
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) dress(element.shadowRoot);
  };
  dress(document);
}"""
# Below the last thing shown, in pixels.
_MARGIN = 24


def trimmed(png: bytes) -> bytes:
    """Return a picture without the empty lines at its end."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    box = ImageChops.difference(picture, Image.new("RGB", picture.size, "white")).getbbox()
    out = io.BytesIO()
    end = picture.height if box is None else min(picture.height, box[3] + _MARGIN)
    picture.crop((0, 0, picture.width, end)).save(out, "PNG")
    return out.getvalue()


def main(out: str = OUT) -> None:
    """Take all pictures."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    bank = builtin_bank()
    families = []
    for item in VIEWS:
        variant = draw_seeded(bank.load(item), version="v", registry=bank.registry(), seed=SEED)
        families.append(
            ExportedFamily(item, variant.title, (), (), variant.points, "", (exported_item(item, variant),))
        )
    files = package_files(ExportedQuiz("pictures", "Pictures", tuple(families)), lambda: None)
    with tempfile.TemporaryDirectory(prefix="softmark-") as place:
        for path, content in files.items():
            target = Path(place, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        with players(Path(place)) as opened:
            for player, name in zip(opened, PLAYERS, strict=True):
                player.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
                for item, response in VIEWS.items():
                    text = files[f"items/{item}.xml"]
                    assert isinstance(text, str)
                    player.page.evaluate("show", text)
                    for identifier, value in (response or {}).items():
                        player.page.evaluate("([id, value]) => enter(id, value)", [identifier, value])
                    if response:
                        player.page.evaluate("end()")
                        # the solution stands in a dialog over the item; those of earlier items are hidden
                        names = ("OK", "Close")
                        buttons = [player.page.get_by_role("button", name=n, exact=True) for n in names]
                        buttons[0].or_(buttons[1]).filter(visible=True).first.wait_for()
                        for button in buttons:
                            if button.filter(visible=True).count():
                                button.filter(visible=True).last.evaluate("button => button.click()")
                                player.page.wait_for_timeout(800)
                    player.page.evaluate(_MATHS_FONT)
                    player.page.wait_for_timeout(800)
                    shown = player.page.screenshot(full_page=True)
                    (folder / f"{item}-{name}.png").write_bytes(small(trimmed(shown)))


if __name__ == "__main__":
    main(*sys.argv[1:])
