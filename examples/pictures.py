"""Takes the pictures of docs/pictures from the demo's pages, with a headless Chromium.

Usage: python -m examples.pictures [DEMO [OUT]], in the repository, after ``make demo``

Each picture shows one part of a page.  They have few colours, so that the files are small.
"""

import base64
import io
import json
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.live.browser import Browser, chromium

BESIDE, ABOVE = 12, 4  # CSS pixels around what is shown
MOST = 150_000  # bytes of a file
COLOURS = 128

# name: page, width of the window, what is shown (CSS; of several all that lies between), height at most
PICTURES = {
    "class-summary": ("results/index.html", 1300, ["h1", ":has(> .class-table)"], 900),
    "changed-marks": ("results/index.html", 1000, ["#changes", "#changes ~ table"], 360),
    "feedback": ("results/students/s14.html", 800, ["h1", "main table"], 700),
    "heatmaps": (
        "results/students/s14.html",
        800,
        ["#item-11 .weights", "#item-11 .weights ~ .weights"],
        560,
    ),
    "items": ("report-before/index.html", 1100, ["#test-1", "table.items"], 1420),
    "item": ("report-before/index.html", 1000, ["section:has(> #item-1-7)"], 700),
    "side-by-side": ("alike/pairs/01-structure-001.html", 1100, ["h1", "main > :last-child"], 1480),
}

# the smallest box around all that the selectors find first, in CSS pixels of the page
BOX = """(all => {
  const found = all.map(one => document.querySelector(one))
  if (found.includes(null)) return all[found.indexOf(null)]
  const boxes = found.map(element => element.getBoundingClientRect())
  const [left, top] = ["left", "top"].map(side => Math.min(...boxes.map(box => box[side])))
  const [right, bottom] = ["right", "bottom"].map(side => Math.max(...boxes.map(box => box[side])))
  return [left + scrollX, top + scrollY, right - left, bottom - top]
})(%s)"""


def main(demo=".demo", out="docs/pictures"):
    program = chromium()
    if program is None:
        sys.exit("there is no Chromium on this machine")
    Path(out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(program, Path(profile))
        try:
            for name, (page, width, shown, height) in PICTURES.items():
                address = (Path(demo) / page).resolve().as_uri()
                data = small(taken(browser, address, width, shown, height))
                if len(data) > MOST:
                    sys.exit(f"{name}: {len(data)} bytes, {MOST} at most")
                (Path(out) / f"{name}.png").write_bytes(data)
                print(f"{name}.png: {len(data) // 1024} KiB")
        finally:
            browser.close()


def taken(browser, address, width, shown, height):
    """Return a part of a page as PNG."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    browser.call("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(address)
    box = browser.run(BOX % json.dumps(shown))
    if isinstance(box, str):
        sys.exit(f"{address}: there is no {box}")
    x, y = max(0, box[0] - BESIDE), max(0, box[1] - ABOVE)
    clip = {"x": x, "y": y, "scale": 1}
    clip |= {"width": min(box[2] + 2 * BESIDE, width - x), "height": min(box[3] + 2 * ABOVE, height)}
    answer = browser.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    return base64.b64decode(answer["data"])


def small(png):
    """Return the same picture in few colours."""
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
