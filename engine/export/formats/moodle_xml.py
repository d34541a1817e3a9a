"""Moodle XML: the question bank's own format, imported under *Question bank → Import*.

Each item becomes a question of the type that carries most of it; vectors, matrices and steps become Cloze
texts. The variants of an item lie in a category of their own, from which a quiz draws one for each student.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html import escape

from engine.answers.free_text import RubricCriterion
from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedFamily, ExportedItem, ExportedQuiz, ExportLoss
from engine.export.formats import QuizFormat
from engine.export.moodle_cloze import (
    accepted_ways,
    decisions_html,
    number_answers,
    numbers_html,
    pattern,
    percentage,
    several_shares,
    steps_text,
)
from engine.export.moodle_html import MoodleText, moodle_line, moodle_text, moodle_words
from engine.text.words import count_noun, plain_points, xml_characters

__all__ = ["FORMAT", "category_titles", "listed_share", "moodle_category", "moodle_name"]

# The grades that Moodle's editor offers; its import refuses a file with any other.
OFFERED = tuple(
    Fraction(share)
    for share in (
        "1", "9/10", "5/6", "4/5", "3/4", "7/10", "2/3", "3/5", "1/2", "2/5", "1/3", "3/10", "1/4", "1/5",
        "1/6", "1/7", "1/8", "1/9", "1/10", "1/20", "0",
    )
)  # fmt: skip
_RULES = {
    "exact": "ALL_OR_NOTHING",
    "positions": "ABSOLUTE_POSITION",
    "pairs": "RELATIVE_ALL_PREVIOUS_AND_NEXT",
}
_LONGEST_TARGET = 255  # Moodle's column for the right side of a pair
_LONGEST_NAME = 255
_LONGEST_TAG = 50


def listed_share(share: Fraction) -> Fraction:
    """Return the nearest share that Moodle offers, of the same sign."""
    sign = -1 if share < 0 else 1
    return sign * min(OFFERED, key=lambda offer: abs(offer - abs(share)))


def moodle_name(text: str) -> str:
    """Return a text as the name of a question or a category: one line, and nothing that looks like a tag.

    Examples
    --------
    >>> moodle_name("Is a<b?")
    'Is a‹b?'
    """
    # Moodle takes everything from a < on for a tag, and drops it
    return " ".join(xml_characters(text).replace("<", "‹").replace(">", "›").split()) or "–"


def moodle_category(path: Iterable[str]) -> str:
    """Return a category's path: question banks of Moodle 5 begin with ``$module$/top``.

    Examples
    --------
    >>> moodle_category(["Quiz", "/ and //"])
    '$module$/top/Quiz/ // and //// '
    """
    names = [moodle_name(name).replace("/", "//") for name in path]
    # a slash at an end of a name would run into the one behind it: a blank, which Moodle trims, parts them
    names = [f"{' ' * name.startswith('/')}{name}{' ' * name.endswith('/')}" for name in names]
    return "/".join(["$module$", "top", *names])


def category_titles(quiz: ExportedQuiz) -> dict[str, str]:
    """Return for each item the title of its category; those that read alike add their item's id."""
    # in one category a quiz would draw among the variants of both
    names = {family.item: moodle_name(family.title) for family in quiz.families}
    count = Counter((family.category, names[family.item].casefold()) for family in quiz.families)
    return {
        family.item: f"{names[family.item]} ({family.item})"
        if count[family.category, names[family.item].casefold()] > 1
        else names[family.item]
        for family in quiz.families
    }


def _text(tag: str, content: MoodleText, indent: str = "    ") -> str:
    files = "".join(
        f'\n{indent}  <file name="{name}" path="/" encoding="base64">{b64encode(data).decode("ascii")}</file>'
        for name, data in content.files
    )
    return f'{indent}<{tag} format="html"><text>{_cdata(content.html)}</text>{files}</{tag}>\n'


def _cdata(text: str) -> str:
    # CDATA keeps HTML readable for people who open the file; its own end is the only thing it can't hold
    text = xml_characters(text)
    if not text or not any(sign in text for sign in "<&>"):
        return text
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


class _Question:
    """One ``<question>`` as it is being written."""

    def __init__(self, kind: str, item: ExportedItem, name: str, points: float, suffix: str = "") -> None:
        self._kind = kind
        self._parts: list[str] = []
        variant = item.variant
        # the order of elements is that of Moodle's own exports; its import takes any
        self._end = "".join(_text("hint", moodle_text(hint)) for hint in variant.hints)
        self._head = (
            f'  <question type="{kind}">\n    <name><text>{escape(name, quote=False)}</text></name>\n'
        )
        self._general = _text("generalfeedback", moodle_text(*item.general_feedback))
        self._points = f"    <defaultgrade>{plain_points(points)}</defaultgrade>\n"
        self._number = f"    <idnumber>{item.name}{suffix}</idnumber>\n"

    def add(self, line: str) -> None:
        """Add an element that only this kind of question has."""
        self._parts.append(line)

    def written(self, text: MoodleText, tags: str) -> str:
        """Return the question."""
        # hidden is 0 for a question that can be used; Moodle takes away a third for each hint
        middle = "    <penalty>0.3333333</penalty>\n    <hidden>0</hidden>\n"
        return (
            f"{self._head}{_text('questiontext', text)}{self._general}{self._points}{middle}{self._number}"
            f"{''.join(self._parts)}{self._end}{tags}  </question>\n"
        )


def _answer(share: str, text: str, feedback: str, tolerance: str = "", form: str = "html") -> str:
    reach = f"<tolerance>{tolerance}</tolerance>" if tolerance else ""
    words = f'<feedback format="html"><text>{_cdata(feedback)}</text></feedback>'
    return (
        f'    <answer fraction="{share}" format="{form}"><text>{_cdata(text)}</text>{words}{reach}</answer>\n'
    )


_PLAIN = "moodle_auto_format"


def _choice(question: _Question, field: ChoiceField) -> None:
    right, wrong = several_shares(field) if field.multiple else (Fraction(1), Fraction(0))
    # the shares of the right options add up to everything, which rounded ones may miss
    right, wrong = listed_share(right), listed_share(wrong)
    question.add(f"    <single>{'false' if field.multiple else 'true'}</single>\n")
    question.add("    <shuffleanswers>true</shuffleanswers>\n    <answernumbering>abc</answernumbering>\n")
    for option in field.options:
        share = percentage(right if option.correct else wrong)
        question.add(_answer(share, moodle_line(option.text), moodle_words(option.feedback)))


def _match(question: _Question, field: MatchField) -> None:
    question.add("    <shuffleanswers>true</shuffleanswers>\n")
    explained = [prompt for prompt in field.prompts if prompt.feedback]
    lines = "".join(
        f"<li>{moodle_line(prompt.text)}: {moodle_words(prompt.feedback)}</li>" for prompt in explained
    )
    for tag in ("partiallycorrectfeedback", "incorrectfeedback") if lines else ():
        question.add(_text(tag, MoodleText(f"<ul>{lines}</ul>")))
    targets = {target.id: target.text.plain for target in field.targets}
    used = set(field.pairs.values())
    pairs = [(moodle_line(prompt.text), targets[field.pairs[prompt.id]]) for prompt in field.prompts]
    # a right side without a left one is an answer that is never right
    pairs += [("", text) for target, text in targets.items() if target not in used]
    for stem, target in pairs:
        inside = f"<text>{_cdata(stem)}</text><answer><text>{_cdata(target)}</text></answer>"
        question.add(f'    <subquestion format="html">{inside}</subquestion>\n')


def _order(question: _Question, field: OrderField) -> None:
    question.add("    <layouttype>VERTICAL</layouttype>\n    <selecttype>ALL</selecttype>\n")
    question.add(f"    <selectcount>{len(field.cards)}</selectcount>\n")
    question.add(f"    <gradingtype>{_RULES[field.policy]}</gradingtype>\n")
    question.add("    <showgrading>SHOW</showgrading>\n    <numberingstyle>none</numberingstyle>\n")
    for tag in ("partiallycorrectfeedback", "incorrectfeedback") if field.feedback else ():
        question.add(_text(tag, MoodleText(moodle_words(field.feedback))))
    # without it Moodle makes up two hints that have no text, and its whole import is aborted
    question.add("    <shownumcorrect>1</shownumcorrect>\n")
    texts = {card.id: moodle_line(card.text) for card in field.cards}
    for place, card in enumerate(field.order, start=1):
        question.add(
            f'    <answer fraction="{place}" format="html"><text>{_cdata(texts[card])}</text></answer>\n'
        )


def _number(question: _Question, field: NumbersField) -> None:
    (entry,) = field.entries
    near = Decimal(percentage(listed_share(Fraction(field.near_credit)))) / 100
    wrong = [(known.entries[0], known.feedback) for known in field.wrong]
    for share, number, reach, feedback in number_answers(entry, wrong, near):
        question.add(_answer(share, number, feedback, reach, _PLAIN))
    # 3 is "no units": what follows the number is ignored
    question.add("    <unitgradingtype>0</unitgradingtype>\n    <showunits>3</showunits>\n")


def _words(question: _Question, field: WordsField) -> None:
    question.add(f"    <usecase>{int(field.case_sensitive)}</usecase>\n")
    for way, share in accepted_ways(field).items():
        question.add(_answer(percentage(listed_share(share)), pattern(way), "", form=_PLAIN))
    for text, feedback in field.wrong:
        known = pattern(" ".join(text.split()))
        question.add(_answer("0", known, moodle_words(feedback), form=_PLAIN))


def _essay(question: _Question, field: EssayField) -> None:
    question.add("    <responseformat>plain</responseformat>\n    <responserequired>1</responserequired>\n")
    question.add("    <responsefieldlines>10</responsefieldlines>\n    <attachments>0</attachments>\n")
    for tag, words in (("minwordlimit", field.least_words), ("maxwordlimit", field.most_words)):
        if words is not None:
            question.add(f"    <{tag}>{words}</{tag}>\n")
    question.add(_text("graderinfo", _grader_info(field)))


def _grader_info(field: EssayField) -> MoodleText:
    head = "<tr><th>criterion</th><th>points</th><th>what earns them</th></tr>"
    rows = "".join(row for criterion in field.rubric for row in _criterion(criterion))
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    sample = moodle_text(field.sample) if field.sample is not None else MoodleText("")
    heading = "<p>An answer that earns all points:</p>" if sample else ""
    return MoodleText(f"{table}{heading}{sample.html}", sample.files)


def _criterion(criterion: RubricCriterion) -> Iterator[str]:
    yield _row(moodle_line(criterion.title), criterion.points, moodle_line(criterion.text))
    for level in criterion.levels:
        yield _row("", level.points, moodle_line(level.text))


def _row(title: str, points: float, text: str) -> str:
    return f"<tr><td>{title}</td><td>{plain_points(points)}</td><td>{text}</td></tr>"


def _item_questions(item: ExportedItem, name: str, tags: str) -> Iterator[str]:
    """Yield an item as questions: one, and another for each answer in words among steps."""
    stem = moodle_text(item.variant.stem, *item.variant.notes)
    # a cloze text has no field for an answer in words
    essays = [field for field in item.fields if isinstance(field, EssayField)]
    others = [field for field in item.fields if not isinstance(field, EssayField)]
    if len(item.fields) == 1:
        yield _only_question(item, item.fields[0], stem, name, tags)
        return
    shares = dict(zip((field.id for field in item.fields), item.shares(), strict=True))
    if others:
        points = item.points * sum(shares[field.id] for field in others)
        question = _Question("cloze", item, name, round(points, 6))
        steps = steps_text(others, len(stem.files))
        yield question.written(MoodleText(stem.html + steps.html, stem.files + steps.files), tags)
    for number, field in enumerate(essays, start=1):
        suffix = "-words" if len(essays) == 1 else f"-words-{number}"
        question = _Question(
            "essay", item, f"{name} ({field.id})", round(item.points * shares[field.id], 6), suffix
        )
        _essay(question, field)
        prompts = () if field.prompt is None else (field.prompt,)
        yield question.written(moodle_text(item.variant.stem, *item.variant.notes, *prompts), tags)


def _only_question(item: ExportedItem, field: ExportedField, stem: MoodleText, name: str, tags: str) -> str:
    if isinstance(field, NumbersField) and field.shape:
        question = _Question("cloze", item, name, item.points)
        return question.written(replace(stem, html=stem.html + numbers_html(field, 1)), tags)
    if isinstance(field, ChoiceField) and field.multiple and field.policy == "each-answer":
        question = _Question("cloze", item, name, item.points)
        return question.written(replace(stem, html=stem.html + decisions_html(field, 1)), tags)
    kind, write = _KINDS[type(field)]
    question = _Question(kind, item, name, item.points)
    write(question, field)
    if isinstance(field, NumbersField) and field.unit:
        stem = replace(stem, html=f"{stem.html}<p>(in {moodle_words(field.unit)})</p>")
    return question.written(stem, tags)


_KINDS: dict[type, tuple[str, Callable[[_Question, ExportedField], None]]] = {
    ChoiceField: ("multichoice", _choice),  # type: ignore[dict-item]
    MatchField: ("matching", _match),  # type: ignore[dict-item]
    OrderField: ("ordering", _order),  # type: ignore[dict-item]
    NumbersField: ("numerical", _number),  # type: ignore[dict-item]
    WordsField: ("shortanswer", _words),  # type: ignore[dict-item]
    EssayField: ("essay", _essay),  # type: ignore[dict-item]
}


def _tag(tag: str) -> str:
    words = "".join(" " if sign in "&<>`," or sign < " " else sign for sign in xml_characters(tag))
    return " ".join(words.split())[:_LONGEST_TAG]


def _family(family: ExportedFamily, title: str, quiz: ExportedQuiz) -> Iterator[str]:
    # one category for an item: a quiz draws from it, and two exports don't mix
    category = escape(moodle_category([quiz.title, *family.category, title]), quote=False)
    info = f"Variants of {family.item}: a quiz draws one of them for each student."
    yield (
        f'  <question type="category">\n    <category><text>{category}</text></category>\n'
        f'    <info format="html"><text>{info}</text></info>\n  </question>\n'
    )
    tags = "".join(f"<tag><text>{_tag(tag)}</text></tag>" for tag in family.tags)
    tags = f"    <tags>{tags}</tags>\n" if tags else ""
    title = moodle_name(family.title)
    for number, item in enumerate(family.items, start=1):
        name = title if len(family.items) == 1 else f"{title} – {number}"
        yield "".join(_item_questions(item, name[:_LONGEST_NAME], tags))


def _write(quiz: ExportedQuiz, advance: Callable[[], None]) -> bytes:
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n']
    titles = category_titles(quiz)
    for family in quiz.families:
        written = _family(family, titles[family.item], quiz)
        parts.append(next(written))
        for question in written:
            parts.append(question)
            advance()
    parts.append("</quiz>\n")
    return "".join(parts).encode("utf-8")


def _losses(family: ExportedFamily) -> Sequence[ExportLoss]:
    by_message: dict[tuple[str, str], ExportLoss] = {}
    for item in family.items:
        for field in item.fields:
            for message, is_refusal in _field_losses(field, is_step=len(item.fields) > 1):
                part = "" if len(item.fields) == 1 else field.id
                by_message.setdefault((part, message), ExportLoss(family.item, part, message, is_refusal))
    return tuple(by_message.values())


def _field_losses(field: ExportedField, *, is_step: bool) -> Iterator[tuple[str, bool]]:
    if field.follows:
        yield "a step isn't marked with the student's own earlier values", False
    if isinstance(field, ChoiceField):
        yield from _choice_losses(field, is_step=is_step)
    elif isinstance(field, OrderField):
        yield from _order_losses(field, is_step=is_step)
    elif isinstance(field, MatchField):
        yield from _match_losses(field)
    elif isinstance(field, NumbersField):
        yield from _number_losses(field, is_step=is_step)
    elif isinstance(field, WordsField):
        share = Fraction(Decimal(str(field.order_credit)))
        if not is_step and listed_share(share) != share:
            yield f"{percentage(share)} % for sequences in another order become the nearest share", False
        yield "only the ways to write the answer that are listed in the question count as right", False
    elif is_step:
        yield "the answer in words becomes a question of its own, which Moodle draws by itself", False


def _choice_losses(field: ChoiceField, *, is_step: bool) -> Iterator[tuple[str, bool]]:
    if field.accepts_printed:
        yield "an option that only the source prints isn't accepted", False
    if not field.multiple:
        return
    if field.policy == "exact":
        yield "all or nothing becomes a share for each right pick, and nothing with any wrong one", False
    elif field.policy == "coverage":
        yield "a wrong pick costs a fixed share instead of one that depends on the number of picks", False
    elif field.policy == "each-answer":
        yield "each option is called right or wrong by itself, and an option left out counts as wrong", False
    right, wrong = several_shares(field)
    if (
        not is_step
        and field.policy != "each-answer"
        and (listed_share(right), listed_share(wrong)) != (right, wrong)
    ):
        yield f"Moodle offers no share of {percentage(right)} %; the nearest one is taken", False


def _order_losses(field: OrderField, *, is_step: bool) -> Iterator[tuple[str, bool]]:
    if is_step:
        if field.policy != "positions":
            yield "each card in its place earns its share", False
        return
    if field.policy == "pairs":
        yield "pairs of cards in the wrong order cost nothing: half of them right is half the points", False
    yield "cards that nobody has moved are marked in the order in which they are shown", False


def _match_losses(field: MatchField) -> Iterator[tuple[str, bool]]:
    if field.policy == "exact":
        yield "each right pair earns its share where all must be right", False
    if any("<" in target.text.html for target in field.targets):
        yield "formulas and emphasis in the texts to pick from are shown as plain characters", False
    longest = max(len(target.text.plain) for target in field.targets)
    if longest > _LONGEST_TARGET:
        limit = count_noun(_LONGEST_TARGET, "character")
        yield f"a text to pick from has {count_noun(longest, 'character')}; Moodle takes {limit}", True
    if len({" ".join(target.text.plain.split()) for target in field.targets}) < len(field.targets):
        yield "two texts to pick from look the same without their formulas", True


def _number_losses(field: NumbersField, *, is_step: bool) -> Iterator[tuple[str, bool]]:
    if any(len(group) > 1 for group in field.groups):
        what = "a row" if len(field.groups) > 1 else "the field"
        yield f"each right entry earns its share where all of {what} must be right", False
    near = Fraction(field.near_credit)
    if near and not is_step and not field.shape and listed_share(near) != near:
        yield f"{percentage(near)} % for a number that is off by rounding become the nearest share", False


FORMAT = QuizFormat("moodle", "Moodle XML", ".xml", _losses, _write)
