"""Items with texts that break formats: signs of XML, GIFT and templates, other scripts, long options."""

from __future__ import annotations

from engine.export.exported_item import ExportedFamily, ExportedItem, ExportedQuiz, exported_item
from engine.items.bank import Bank, builtin_root
from engine.model import ChoiceOption, Part, RenderedText, Variant
from engine.prose.markdown import render_prose
from engine.variants import draw_seeded

SIGNS = (
    "]]> & < > \" ' \\{ \\} { } ~ = # : \\$seed \\$5 | [answer_1] \\\\(x\\\\) {{ x }} %24 \U0001f600 "
    "\u05e9\u05dc\u05d5\u05dd \u202eabc \u00a0 \u200b"
)
LONG = "word & " * 285 + "end"
_BANK = Bank([builtin_root()])


def bank_item(item: str, seed: int = 0, name: str = "") -> ExportedItem:
    """Return a variant of a built-in item."""
    variant = draw_seeded(_BANK.load(item), version="v", registry=_BANK.registry(), seed=seed)
    return exported_item(name or f"{item}-{seed + 1:03}", variant)


def family_of(*items: ExportedItem, section: str = "", category: tuple[str, ...] = ()) -> ExportedFamily:
    """Return items as the variants of one item."""
    first = items[0]
    tags = (first.variant.item, "difficulty-2")
    return ExportedFamily(first.variant.item, first.title, category, tags, first.points, section, items)


def bank_family(item: str) -> ExportedFamily:
    """Return a built-in item with one variant."""
    return family_of(bank_item(item))


def quiz_of(*families: ExportedFamily, title: str = "Quiz & <test>") -> ExportedQuiz:
    """Return a quiz that asks these families."""
    return ExportedQuiz("quiz-1", title, families)


def _text(words: str) -> RenderedText:
    return render_prose(words, inline=True)


def hostile_choice(*, multiple: bool = False) -> ExportedItem:
    """Return a choice whose every text has such signs; the right options are the first and the last."""
    texts = [SIGNS, LONG, f"{SIGNS} 2 $a < b$", "`code`", "*a* **b** `c`"]
    options = tuple(
        ChoiceOption(
            name, _text(text), correct=name in ("a", "e") if multiple else name == "a", feedback=SIGNS
        )
        for name, text in zip("abcde", texts, strict=True)
    )
    right = tuple(option.id for option in options if option.correct)
    kind = "multiple_choice" if multiple else "single_choice"
    return _item(Part("answer", kind, 1.0, key_ids=right, options=options))


def hostile_matching(*, formulas: bool = False) -> ExportedItem:
    """Return a matching with such texts on both sides; its targets may have formulas."""
    tail = " $x^2$" if formulas else ""
    prompts = tuple(
        ChoiceOption(str(number), _text(f"{SIGNS} {number}"), feedback=SIGNS) for number in (1, 2, 3)
    )
    targets = tuple(ChoiceOption(name, _text(f"{SIGNS} {name}{tail}")) for name in "abc")
    return _item(Part("answer", "matching", 1.0, key_ids=("b", "a", "b"), options=targets, prompts=prompts))


def _item(part: Part) -> ExportedItem:
    stem = render_prose(
        f"# {SIGNS}\n\n- {SIGNS}\n\n> {SIGNS}\n\n```\n{SIGNS}\n```\n\n$$\\frac{{a}}{{b}} < 1$$"
    )
    hints = (render_prose(SIGNS),)
    variant = Variant(
        "v1", "hostile-signs", "v", SIGNS, stem, (part,), hints=hints, solution=stem, notes=(hints[0],)
    )
    return exported_item("hostile-signs-001", variant)
