"""Answer sheets as students fill them in and scanners see them, with what each bubble was meant to be.

Pencil is drawn as strokes of graphite on the grain of paper; rubbing out takes most of it away and spreads
the rest; two scanners of different kinds then look at the page. All sizes and shares here are of pencils,
people and scanners; nothing is taken from the reader, whose constants this must not know.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import cv2
import numpy as np
import numpy.typing as npt
import pypdfium2

from engine.paper.page_codes import PageCode
from engine.paper.sheet_drawing import draw_sheet
from engine.paper.sheet_layout import SheetBubble, SheetFieldKind, SheetLayout, SheetPage

DPI = 300
MM = DPI / 25.4


class Intent(Enum):
    """What a student meant; what was crossed out, or crossed instead of filled, is for people to decide."""

    EMPTY = "empty"
    FILLED = "filled"
    CROSSED = "crossed"


@dataclass(frozen=True)
class Hand:
    """How one student uses a pencil: stroke in mm, blackness of graphite 0 to 1, how neatly, how fully."""

    kind: str
    width: float
    blackness: float
    wobble: float
    reach: float
    spacing: float

    @classmethod
    def drawn(cls, random: np.random.Generator, trap: str | None = None) -> Hand:
        """Return a student's hand: most are ordinary, some very light, very thick or sloppy."""
        kind = trap or random.choice(["usual", "light", "thick", "partial"], p=[0.82, 0.06, 0.06, 0.06])
        usual = {
            "width": random.uniform(0.45, 0.8),
            "blackness": random.uniform(0.5, 0.85),
            "wobble": random.uniform(0.04, 0.14),
            "reach": random.uniform(0.88, 1.05),
            "spacing": random.uniform(0.5, 0.95),
        }
        if kind == "light":  # a hard pencil, pressed little
            usual |= {"blackness": random.uniform(0.3, 0.42), "spacing": random.uniform(0.5, 0.8)}
        if kind == "thick":  # a felt pen
            usual |= {
                "width": random.uniform(1.2, 1.8),
                "blackness": 0.97,
                "reach": random.uniform(1.0, 1.15),
            }
        if kind == "partial":  # in a hurry: two thirds of the bubble
            usual |= {"reach": random.uniform(0.74, 0.86), "spacing": random.uniform(0.8, 1.1)}
        return cls(str(kind), **usual)


@dataclass
class FilledSheet:
    """One page with its pencil, and the intent of each of its bubbles."""

    image: npt.NDArray[np.float32]
    graphite: npt.NDArray[np.float32]
    intents: dict[SheetBubble, Intent] = field(default_factory=dict)


def printed_pages(layout: SheetLayout, codes: Sequence[PageCode]) -> list[npt.NDArray[np.float32]]:
    """Return the pages as they leave the printer, 0 black to 1 white."""
    import typst

    pdf = pypdfium2.PdfDocument(typst.compile(draw_sheet(layout, codes, heading="Midterm").encode()))
    return [
        np.squeeze(page.render(scale=DPI / 72, grayscale=True).to_numpy()).astype(np.float32) / 255
        for page in pdf
    ]


class Student:
    """Fills in sheets with one hand."""

    def __init__(self, random: np.random.Generator, trap: str | None = None) -> None:
        self._random = random
        self.hand = Hand.drawn(random, trap if trap in ("light", "thick", "partial") else None)
        self._trap = trap

    def fill(self, image: npt.NDArray[np.float32], layout: SheetLayout, page: SheetPage) -> FilledSheet:
        """Answer a page, with some changes of mind, and some dirt."""
        sheet = FilledSheet(image, np.zeros_like(image))
        groups: dict[tuple[int, int, int], list[SheetBubble]] = {}
        for bubble in page.bubbles:
            sheet.intents[bubble] = Intent.EMPTY
            groups.setdefault((bubble.question, bubble.entry, bubble.column), []).append(bubble)
        for (question, _, _), bubbles in groups.items():
            if self._trap == "blank":
                continue
            is_several = layout.questions[question].kind is SheetFieldKind.MULTIPLE
            for bubble in self._picks(bubbles, is_several):
                self._answer(sheet, bubble, bubbles, layout.radius)
        self._dirt(sheet)
        return sheet

    def cross_inside(
        self, image: npt.NDArray[np.float32], bubbles: Sequence[SheetBubble], radius: float, width: float
    ) -> FilledSheet:
        """Cross bubbles with a pen of this width, at any angle, staying about within their rings."""
        sheet, random = FilledSheet(image, np.zeros_like(image)), self._random
        for bubble in bubbles:
            angle = random.uniform(0, math.pi)
            black = float(random.choice([0.5, 0.7, 0.85, 0.97]))
            arm = radius * random.uniform(0.6, 1.0)
            for turn in (angle, angle + math.radians(random.uniform(60, 120))):
                x, y = bubble.x + random.normal(0, 0.15), bubble.y + random.normal(0, 0.15)
                dx, dy = arm * math.cos(turn), arm * math.sin(turn)
                self._stroke(sheet.graphite, [(x - dx, y - dy), (x + dx, y + dy)], width, black)
            sheet.intents[bubble] = Intent.CROSSED
        return sheet

    def _picks(self, bubbles: list[SheetBubble], is_several: bool) -> list[SheetBubble]:
        if self._trap == "all" and is_several:
            return bubbles
        if self._random.random() < 0.08:
            return []
        if is_several:
            return [b for b in bubbles if self._random.random() < 0.4]
        if len(bubbles) == 1:  # the sign
            return bubbles if self._random.random() < 0.3 else []
        return [bubbles[self._random.integers(len(bubbles))]]

    def _answer(
        self, sheet: FilledSheet, bubble: SheetBubble, others: list[SheetBubble], radius: float
    ) -> None:
        chance = self._random.random()
        free = [b for b in others if b != bubble and sheet.intents[b] is Intent.EMPTY]
        if free and chance < 0.03:  # first another one, which is rubbed out
            wrong = free[self._random.integers(len(free))]
            rubbed = np.zeros_like(sheet.graphite)
            self._scribble(rubbed, wrong, radius)
            self._rub_out(rubbed, wrong)
            np.maximum(sheet.graphite, rubbed, out=sheet.graphite)
        elif free and chance < 0.034:  # first another one, which is crossed out
            wrong = free[self._random.integers(len(free))]
            self._scribble(sheet.graphite, wrong, radius)
            self._cross(sheet.graphite, wrong, radius * self._random.uniform(1.5, 2.0))
            sheet.intents[wrong] = Intent.CROSSED
        elif chance < 0.036:  # a cross instead of filling
            self._cross(sheet.graphite, bubble, radius * self._random.uniform(0.8, 1.1))
            sheet.intents[bubble] = Intent.CROSSED
            return
        self._scribble(sheet.graphite, bubble, radius)
        sheet.intents[bubble] = Intent.FILLED

    def _scribble(self, layer: npt.NDArray[np.float32], bubble: SheetBubble, radius: float) -> None:
        """Go to and fro over the bubble, or round and round."""
        hand, random = self.hand, self._random
        reach = hand.reach * radius
        angle = random.uniform(0, math.pi)
        points = []
        if random.random() < 0.65:
            step = hand.width * hand.spacing
            count = max(3, int(2 * reach / step) + 1)
            for i in range(count):
                across = -reach + 2 * reach * i / (count - 1)
                half = math.sqrt(max(0.0, reach**2 - across**2))
                side = half if i % 2 else -half
                points.append((across, side))
        else:
            turns = max(2.0, reach / (hand.width * hand.spacing))
            for i in range(int(turns * 16)):
                turn = i / 16
                r = reach * turn / turns
                points.append((r * math.cos(2 * math.pi * turn), r * math.sin(2 * math.pi * turn)))
        turned = [
            (
                bubble.x + x * math.cos(angle) - y * math.sin(angle) + random.normal(0, hand.wobble),
                bubble.y + x * math.sin(angle) + y * math.cos(angle) + random.normal(0, hand.wobble),
            )
            for x, y in points
        ]
        self._stroke(layer, turned, hand.width, hand.blackness)

    def _cross(self, layer: npt.NDArray[np.float32], bubble: SheetBubble, arm: float) -> None:
        black = max(self.hand.blackness, 0.5)
        for slope in (1, -1):
            tilt = self._random.uniform(0.8, 1.2)
            ends = [
                (bubble.x - arm, bubble.y - arm * slope * tilt),
                (bubble.x + arm, bubble.y + arm * slope * tilt),
            ]
            self._stroke(layer, ends, max(0.4, min(self.hand.width, 0.8)), black)

    def _stroke(
        self,
        layer: npt.NDArray[np.float32],
        points: Sequence[tuple[float, float]],
        width: float,
        black: float,
    ) -> None:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        left, top = int((min(xs) - 2) * MM), int((min(ys) - 2) * MM)
        right, bottom = int((max(xs) + 2) * MM), int((max(ys) + 2) * MM)
        window = layer[top:bottom, left:right]
        line = np.array([[(x * MM - left) * 16, (y * MM - top) * 16] for x, y in points], dtype=np.int32)
        drawn = np.zeros(window.shape, dtype=np.uint8)
        cv2.polylines(drawn, [line], False, 255, max(1, round(width * MM)), cv2.LINE_AA, shift=4)
        # Graphite lies on the grain of the paper and not in its hollows; pressure varies along the stroke.
        grain = self._random.normal(0, 0.35, window.shape).astype(np.float32)
        grain = cv2.GaussianBlur(grain, (0, 0), 1.2) * 2.2
        pressure = black * self._random.uniform(0.9, 1.1)
        np.maximum(window, drawn / 255 * np.clip(pressure * (1 + 0.5 * grain), 0.02, 1), out=window)

    def _rub_out(self, layer: npt.NDArray[np.float32], bubble: SheetBubble) -> None:
        """Leave little of it, spread over the bubble and beyond."""
        row, column, half = int(bubble.y * MM), int(bubble.x * MM), int(4 * MM)
        window = layer[row - half : row + half, column - half : column + half]
        rest = self._random.choice([0.03, 0.06, 0.12], p=[0.5, 0.35, 0.15])
        window[:] = cv2.GaussianBlur(window, (0, 0), 0.5 * MM) * rest * 0.6 + window * rest

    def _dirt(self, sheet: FilledSheet) -> None:
        """Leave smudges of the hand, specks, and now and then the edge of a coffee cup."""
        random = self._random
        height, width = sheet.graphite.shape
        for _ in range(random.poisson(2.0)):
            x, y = random.uniform(0, width), random.uniform(0, height)
            spread = random.uniform(2, 7) * MM
            rows, columns = np.ogrid[:height, :width]
            near = np.exp(-((columns - x) ** 2 + ((rows - y) * 1.5) ** 2) / (2 * spread**2))
            np.maximum(
                sheet.graphite, near.astype(np.float32) * random.uniform(0.02, 0.07), out=sheet.graphite
            )
        for _ in range(random.poisson(12)):
            centre = (int(random.uniform(0, width)), int(random.uniform(0, height)))
            cv2.circle(sheet.graphite, centre, random.integers(1, 3), float(random.uniform(0.3, 0.9)), -1)


SCANNERS = ("feeder", "flatbed")


def scan(
    sheet: FilledSheet,
    scanner: str,
    random: np.random.Generator,
    *,
    upside_down: bool = False,
    dpi: int = 150,
    threshold: float | None = None,
) -> npt.NDArray[np.uint8]:
    """Return the page as a scanner sees it, grey, skewed by up to five degrees.

    With a threshold it is in black and white: what is darker than this share of the white of paper is black.

    The feeder pulls paper unevenly, brightens and sharpens and compresses much; the flatbed darkens, with
    light that falls off to one side, and blurs.
    """
    reflected = sheet.image * 0.82 + 0.12  # toner isn't black, nor paper white
    reflected = reflected * (1 - sheet.graphite * 0.88)
    height, width = reflected.shape
    angle = random.uniform(-5, 5) + (180 if upside_down else 0)
    scale = dpi / DPI * random.uniform(0.99, 1.01)
    out = (round(width * dpi / DPI), round(height * dpi / DPI))
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, scale)
    matrix[:, 2] += np.array([out[0] / 2 - width / 2, out[1] / 2 - height / 2]) + random.uniform(-8, 8, 2)
    # A sensor's pixel sees an area: blurred before it is sampled.
    soft = cv2.GaussianBlur(reflected, (0, 0), 0.5 * DPI / dpi)
    border = float(random.choice([0.05, 0.9]))
    page = cv2.warpAffine(soft, matrix, out, flags=cv2.INTER_LINEAR, borderValue=border)
    if scanner == "feeder":
        # The rollers slip: up to 0.4 mm within a page.
        slip = random.uniform(-0.4, 0.4) * dpi / 25.4
        rows = np.arange(out[1], dtype=np.float32)
        moved = rows + slip * np.sin(rows / out[1] * math.pi).astype(np.float32)
        maps = np.meshgrid(np.arange(out[0], dtype=np.float32), moved)
        page = cv2.remap(page, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        page = np.clip(page * random.uniform(1.0, 1.12), 0, 1) ** random.uniform(0.75, 1.0)
        page = page + 0.5 * (page - cv2.GaussianBlur(page, (0, 0), 1.2))
        noise, quality = random.uniform(0.008, 0.02), int(random.integers(45, 75))
    else:
        page = cv2.GaussianBlur(page, (0, 0), random.uniform(0.5, 0.9))
        falloff = 1 - random.uniform(0, 0.18) * np.linspace(0, 1, out[0], dtype=np.float32)[None, :]
        page = (page * random.uniform(0.6, 0.95) * falloff) ** random.uniform(1.0, 1.35)
        noise, quality = random.uniform(0.01, 0.03), int(random.integers(55, 85))
    page = page + random.normal(0, noise, page.shape)
    grey = np.clip(page * 255, 0, 255).astype(np.uint8)
    if threshold is not None:
        white = float(np.percentile(grey, 80))
        return np.where(grey < threshold * white, 0, 255).astype(np.uint8)
    _, data = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, quality])
    seen = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)
    assert seen is not None
    return seen.astype(np.uint8, copy=False)
