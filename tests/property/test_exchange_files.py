"""Whatever a file holds: problem files that work, or faults with their places; never a traceback."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from hypothesis import example, given
from hypothesis import strategies as st

from engine.answers import right_response
from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportReport
from engine.errors import ExchangeError
from engine.grading import grade_answers
from engine.items import builtin_bank, load_spec
from engine.model import Mode, Outcome, Response
from engine.variants import draw_seeded

BANK = builtin_bank()


def words(text: str) -> list[str]:
    return text.split()


PIECES = [
    *words(
        "{ } = ~ # #### -> %50% %-100% %x% :: T F ? zz a inf -0 * text 0.5 ä <b> </b> $$x$$ {T} {} {#3:0.1}"
    ),
    *words(r"{#1..2} \n \= \{ \\ \(x\) [html] [markdown] [plain] TRUE#no#yes ::../x::"),
    *["{=a ~b}", "{=a =b}", "{~%50%a ~%50%b ~c}", "{=a -> 1 =b -> 2}", "{{ 7*7 }}", "::a b::", "2, 1 and 0"],
    *["$CATEGORY: a/b\n", "// x [tag:y]\n", "\n", "\n\n", " ", "\u202e"],
]
WORDS = st.one_of(
    st.sampled_from(
        [
            *words(r"a b A True 1 -0 0.5 1e9 1e-9 nan * <p>x</p> \(x^2\) softmax ../../etc con ? zz"),
            *["2.718281828459045", "", "{{ x }}", "x" * 300, "[2, 1, 0]", "\u202eabc", "a b", "# h"],
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12),
)


def imported(data: bytes, name: str) -> ImportReport | ExchangeError:
    """Import a file into a folder of its own; every item that comes out must give full marks for its key."""
    with TemporaryDirectory() as work:
        path, out = Path(work) / name, Path(work) / "out"
        path.write_bytes(data)
        try:
            report = import_file(path, out, BANK, keep_going=True)
        except ExchangeError as error:
            assert error.what
            return error
        assert sorted(p.name for p in Path(work).iterdir()) in ([name], sorted([name, "out"]))
        for item in report.items:
            assert item.path.parent == out
            spec = load_spec(item.path)
            variant = draw_seeded(spec, version="0", registry=BANK.registry(), seed=1)
            answers = {part.id: right_response(part) for part in variant.parts}
            marks = grade_answers(variant, Response(answers), mode=Mode.PRACTICE, student=None)
            assert marks.outcome is Outcome.RIGHT
        return report


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
@example("x {=a\n\n} {")
def test_any_gift(text: str) -> None:
    imported(text.encode(), "q.gift")


@given(st.binary(max_size=80))
def test_any_bytes(data: bytes) -> None:
    imported(data, "q.txt")


FORMS = st.sampled_from(["html", "markdown", "plain_text", "moodle_auto_format"])
SHARES = ["100", "0", "0", "50", "-33.33333", "33.33333"]
NUMBERS = [
    "3",
    "-0",
    "0",
    "0.5",
    "-2.75",
    "1e-3",
    "1e-9",
    "1e9",
    "2.718281828459045",
    "123456.789",
    "*",
    "3,5",
    "7",
    "2",
]
TOLERANCES = ["0", "0", "0.1", "0.001", "5", "1e-13", "1e12", "x"]
FIELDS = [
    "<p>{1:NUMERICAL:=0.5:0.01#yes~%0%0.7:0.01#no}, {NM:=1}{1:NM:=2:1}</p>",
    "<ol><li>a {2:SHORTANSWER_C:=w\\}v~*#no}</li><li>{1:MCV:=x~y#&lt;b&gt;~%50%z}</li></ol>",
    "<table><tr><td>{1:NM:=1}</td><td>{1:NM:=2}</td></tr><tr><td>{1:NM:=3}</td><td>4</td></tr></table>",
    " {1:NUMERICAL:=1e400:x} ", "{1:MR:%50%a~%50%b}", "{1:SA:=", "<blockquote>{1:SA:=soft max}</blockquote>",
]  # fmt: skip


@st.composite
def questions(draw: st.DrawFn) -> str:
    kinds = [
        "multichoice",
        "multichoice",
        "truefalse",
        "shortanswer",
        "numerical",
        "matching",
        "essay",
        "ordering",
        "cloze",
        "other",
    ]
    kind = draw(st.sampled_from(kinds))
    parts = [f"<name><text>{escape(draw(WORDS))}</text></name>"]
    fields = draw(st.lists(st.sampled_from(FIELDS), max_size=5)) if kind == "cloze" else []
    text = "".join([draw(WORDS), " x", *fields])
    parts.append(f'<questiontext format="{draw(FORMS)}"><text>{escape(text)}</text></questiontext>')
    texts = {
        "truefalse": st.sampled_from(["true", "false"]),
        "numerical": st.sampled_from(NUMBERS),
    }.get(kind, WORDS)
    single = draw(st.sampled_from(["true", "false"]))
    for index in range(draw(st.integers(1, 5))):
        share = "100" if index == 0 and single == "true" else draw(st.sampled_from(SHARES))
        text, feedback = escape(draw(texts)), escape(draw(st.one_of(st.just(""), WORDS)))
        parts.append(f'<answer fraction="{share}"><text>{text}</text>')
        parts.append(f'<feedback format="{draw(FORMS)}"><text>{feedback}</text></feedback>')
        parts.append(f"<tolerance>{draw(st.sampled_from(TOLERANCES))}</tolerance></answer>")
    for _ in range(draw(st.integers(1, 4)) if kind == "matching" else 0):
        left, right = escape(draw(WORDS)), escape(draw(WORDS))
        parts.append(f"<subquestion><text>{left}</text><answer><text>{right}</text></answer></subquestion>")
    parts.append(
        f"<single>{single}</single><generalfeedback><text>{escape(draw(WORDS))}</text></generalfeedback>"
    )
    return f'<question type="{kind}">{"".join(parts)}</question>'


@given(st.lists(questions(), max_size=3).map("\n".join))
def test_any_moodle_xml(text: str) -> None:
    imported(f"<quiz>{text}</quiz>".encode(), "q.xml")


@given(
    st.lists(questions(), min_size=1, max_size=2).map("\n".join),
    st.integers(0, 400),
    st.sampled_from("<>&\"'\0x"),
)
def test_moodle_xml_with_a_character_in_the_wrong_place(text: str, at: int, character: str) -> None:
    whole = f"<quiz>{text}</quiz>"
    imported((whole[:at] + character + whole[at:]).encode(), "q.xml")
