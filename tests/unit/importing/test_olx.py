"""OLX: problems of others mark here as Open edX's own block marks them; courses, however they are packed."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest

from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportReport
from engine.errors import ExchangeError
from engine.grading import grade_answers
from engine.items.bank import builtin_bank
from engine.model import Mode, Response, Variant
from tests.live.openedx_problem import OpenEdxProblemBlock
from tests.unit.importing.files_read import Importing
from tests.unit.importing.round_trips import again

BANK = builtin_bank()


@pytest.fixture(scope="module")
def block() -> Iterator[OpenEdxProblemBlock]:
    with OpenEdxProblemBlock() as client:
        yield client


def problem(body: str, **attributes: str) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<problem{written}>\n{body}\n</problem>\n"


def only(report: ImportReport) -> Variant:
    assert (report.skipped, report.faults, report.format) == ((), (), "olx")
    return again(report.items[0].path)


def letters(variant: Variant, texts: Sequence[str]) -> str:
    """Return the letters of options by their texts."""
    return ", ".join(option.id for option in variant.parts[0].options if option.text.plain in texts)


def marked(variant: Variant, answers: Mapping[str, str]) -> tuple[float | None, str]:
    """Return our mark as a share, and what is said."""
    report = grade_answers(variant, Response(dict(answers)), mode=Mode.PRACTICE, student=None)
    said = " ".join([*(c.message for c in report.checks), *(d.message for d in report.diagnosis)])
    return None if report.score is None else report.score / variant.points, said


OPTIONS = ("rows", "columns", "neither", "both of them")
RADIO = problem(
    "<p>Over what does softmax run?</p><multiplechoiceresponse><choicegroup type='MultipleChoice'>"
    "<choice correct='false'>rows<choicehint>Rows sum to 1.</choicehint></choice>"
    "<choice correct='true'>columns</choice><choice correct='false'>neither</choice>"
    "<choice correct='false'>both of them</choice></choicegroup></multiplechoiceresponse>"
    "<solution><div class='detailed-solution'><p>Explanation</p><p>By definition.</p></div></solution>"
    "<demandhint><hint>Look at \\(a_{ij}\\).</hint></demandhint>",
    display_name="Softmax axis",
)


def test_a_choice_with_hints_and_solution(importing: Importing, block: OpenEdxProblemBlock) -> None:
    variant = only(importing(RADIO, "p.xml"))
    assert variant.title == "Softmax axis"
    results = block.mark(RADIO, [[n] for n in range(4)])
    for text, theirs in zip(OPTIONS, results, strict=True):
        share, said = marked(variant, {"answer": letters(variant, [text])})
        assert share == theirs.share, text
        assert ("Rows sum to 1." in said) == (text == "rows")
    assert variant.solution is not None and variant.solution.plain == "By definition."
    assert [hint.latex for hint in variant.hints] == ["Look at $a_{ij}$."]


def boxes(credit: str) -> str:
    attribute = f" partial_credit='{credit}'" if credit else ""
    choices = "".join(
        f"<choice correct='{str(text in ('rows', 'columns')).lower()}'>{text}"
        f"<choicehint selected='true'>About {text}.</choicehint></choice>"
        for text in OPTIONS
    )
    return problem(
        f"<choiceresponse{attribute}><label>Which of them?</label><checkboxgroup>{choices}</checkboxgroup>"
        "</choiceresponse>"
    )


@pytest.mark.parametrize(
    ("credit", "policy"), [("", "exact"), ("EDC", "each-answer"), ("halves", "net-correct")]
)
def test_several_picks_with_their_credit(
    importing: Importing, block: OpenEdxProblemBlock, credit: str, policy: str
) -> None:
    report = importing(boxes(credit), "p.xml")
    variant = only(report)
    assert variant.parts[0].settings["policy"] == policy
    assert report.items[0].notes == ()
    picks = [list(pick) for size in range(1, 5) for pick in combinations(range(4), size)]
    results = block.mark(boxes(credit), [[p] for p in picks])
    for picked, theirs in zip(picks, results, strict=True):
        share, said = marked(variant, {"answer": letters(variant, [OPTIONS[n] for n in picked])})
        # shares are rounded to hundredths there
        assert share == pytest.approx(theirs.share, abs=0.006), picked
        assert all(f"About {OPTIONS[n]}." in said for n in picked if n > 1)


def test_halves_of_five_options_are_none_of_our_rules(
    importing: Importing, block: OpenEdxProblemBlock
) -> None:
    fifth = "<choice correct='true'>every</choice></checkboxgroup>"
    text = boxes("halves").replace("</checkboxgroup>", fifth)
    report = importing(text, "p.xml")
    assert [note.message for note in report.items[0].notes] == [
        "its rule for several picks isn't kept: 'net-correct' is nearest"
    ]
    results = block.mark(text, [[[0, 1, 4]], [[0, 1]], [[0]]])
    variant = only(report)
    picks = (("rows", "columns", "every"), ("rows", "columns"), ("rows",))
    ours = [marked(variant, {"answer": letters(variant, pick)})[0] for pick in picks]
    assert [result.share for result in results] == [1, 0.5, 0.25]
    assert ours == [1, pytest.approx(2 / 3), pytest.approx(1 / 3)]


@pytest.mark.parametrize(
    ("answer", "tolerance", "texts"),
    [
        ("0.27", "0.005", ["0.27", "0.265", "0.275", "0.2751", "0.2649"]),
        ("200", "5%", ["190", "210", "189.9", "210.1"]),
        ("[2, 3]", "", ["2", "3", "2.5", "1.99", "3.01"]),
        ("(2, 3)", "", ["2.5", "1.99", "3.01"]),
        ("3/8", "0.001", ["0.375", "3/8", "0.376", "0.377"]),
        ("2^3 + sqrt(4)", "0.5", ["10", "10.5", "10.6"]),
        ("1e-3", "1e-4", ["0.001", "0.0011", "0.0012"]),
        ("42", "", ["42", "42.0", "42.1", "41.9"]),
    ],
)  # fmt: skip
def test_numbers_with_their_tolerance(
    importing: Importing, block: OpenEdxProblemBlock, answer: str, tolerance: str, texts: list[str]
) -> None:
    reach = f"<responseparam type='tolerance' default='{tolerance}'/>" if tolerance else ""
    text = problem(
        f"<p>How much?</p><numericalresponse answer='{answer}'>{reach}"
        "<formulaequationinput trailing_text='bytes'/></numericalresponse>"
    )
    variant = only(importing(text, "p.xml"))
    assert variant.parts[0].settings["unit"] == "bytes"
    for typed, theirs in zip(texts, block.mark(text, [[t] for t in texts]), strict=True):
        assert marked(variant, {"answer": typed})[0] == theirs.share, typed


WORDS = (
    "<p>Its name?</p><stringresponse answer='softmax' type='{}'><correcthint>Yes.</correcthint>"
    "<additional_answer answer='soft max'/><stringequalhint answer='argmax'>Too hard.</stringequalhint>"
    "<textline size='20'/></stringresponse>"
)


@pytest.mark.parametrize("case", ["ci", ""])
def test_words_with_their_case(importing: Importing, block: OpenEdxProblemBlock, case: str) -> None:
    text = problem(WORDS.format(case))
    variant = only(importing(text, "p.xml"))
    typed = ["softmax", "soft max", "Softmax", "SOFT MAX", "argmax", "relu"]
    for word, theirs in zip(typed, block.mark(text, [[t] for t in typed]), strict=True):
        share, said = marked(variant, {"answer": word})
        assert (share or 0) == theirs.share, word
        assert ("Too hard." in said) == (word == "argmax")


@pytest.mark.parametrize(
    "field",
    [
        "<optioninput><option correct='False'>rows<optionhint>No.</optionhint></option>"
        "<option correct='True'>columns</option></optioninput>",
        "<optioninput options=\"('rows','columns')\" correct='columns'/>",
    ],
)
def test_dropdowns_of_both_forms(importing: Importing, block: OpenEdxProblemBlock, field: str) -> None:
    text = problem(f"<p>Over what?</p><optionresponse>{field}</optionresponse>")
    variant = only(importing(text, "p.xml"))
    for word, theirs in zip(OPTIONS, block.mark(text, [["rows"], ["columns"]]), strict=False):
        assert marked(variant, {"answer": letters(variant, [word])})[0] == theirs.share


def test_several_fields_are_steps_of_equal_worth(importing: Importing, block: OpenEdxProblemBlock) -> None:
    text = problem(
        "<p>A matrix has 3 rows.</p>"
        "<p>It has <numericalresponse answer='12'><formulaequationinput/></numericalresponse> entries.</p>"
        "<stringresponse answer='tall' type='ci'><label>Is it wide or tall?</label><textline/>"
        "</stringresponse>"
        "<optionresponse><label>Its columns?</label><optioninput><option correct='False'>3</option>"
        "<option correct='True'>4</option></optioninput></optionresponse>",
        weight="6",
    )
    variant = only(importing(text, "p.xml"))
    assert [(part.type, part.points) for part in variant.parts] == [
        ("number", 2), ("token", 2), ("single_choice", 2)
    ]  # fmt: skip
    assert [part.prompt.plain for part in variant.parts if part.prompt is not None] == [
        "It has _____ entries.", "Is it wide or tall?", "Its columns?"
    ]  # fmt: skip
    option = next(option.id for option in variant.parts[2].options if option.text.plain == "4")
    answers = {"step1": "12", "step2": "wide", "step3": option}
    (theirs,) = block.mark(text, [["12", "wide", "4"]])
    assert marked(variant, answers)[0] == pytest.approx(theirs.share)


def test_credit_of_single_options_and_other_losses_are_told(importing: Importing) -> None:
    text = problem(
        "<p>Which?</p><multiplechoiceresponse partial_credit='points'><choicegroup answer-pool='2'>"
        "<choice correct='true'>aa</choice><choice correct='partial' point_value='0.25'>bb</choice>"
        "<choice correct='partial'>cc</choice><choice correct='false'>dd</choice></choicegroup>"
        "</multiplechoiceresponse><targetedfeedbackset/>"
    )
    assert [note.message for note in importing(text, "p.xml").items[0].notes] == [
        "all its options are shown, where some of them were drawn",
        "feedback that replaces the solution isn't kept",
        "25 % for 'bb' isn't kept: a wrong option earns 0 here",
        "50 % for 'cc' isn't kept: a wrong option earns 0 here",
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<p>Read this.</p>", "it only shows a text and asks nothing"),
        ("<script type='loncapa/python'>x = 1</script><p>x?</p><numericalresponse answer='$x'/>",
         "a Python program draws its numbers or marks it"),
        ("<p>x?</p><numericalresponse answer='$x'/>", "its answer is computed by a program ($x)"),
        ("<p>x?</p><numericalresponse answer='log10(3)'/>",
         "its answer, 'log10(3)', isn't a number that is read here"),
        ("<p>x?</p><numericalresponse answer='1/0'/>", "its answer, '1/0', can't be computed"),
        ("<p>x?</p><customresponse cfn='f'><textline/></customresponse>", "a program marks its answers"),
        ("<p>x?</p><formularesponse answer='x^2'/>", "a formula is the answer"),
        ("<p>x?</p><imageresponse/>", "a picture is clicked on"),
        ("<p>x?</p><nameresponse/>", "the field <nameresponse> isn't known here"),
        ("<p>x?</p><stringresponse answer='a+' type='ci regexp'><textline/></stringresponse>",
         "its answers are patterns"),
        ("<p>x?</p>" + "<numericalresponse answer='1'/>" * 61, "it has 61 fields"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_skipped_with_its_reason(
    importing: Importing, body: str, reason: str
) -> None:
    report = importing(problem(body), "p.xml")
    assert report.items == ()
    (skip,) = report.skipped
    assert skip.reason == reason
    assert skip.next_step


# --- courses ---

GOOD = problem(
    "<p>How many?</p><numericalresponse answer='3'><formulaequationinput/></numericalresponse>",
    display_name="Heads",
)
COURSE: Mapping[str, str] = {
    "course.xml": '<course url_name="run" org="o" course="c"/>',
    "course/run.xml": '<course display_name="DL"><chapter url_name="w3"/></course>',
    "chapter/w3.xml": '<chapter display_name="Week 3"><sequential url_name="s"/></chapter>',
    "sequential/s.xml": (
        '<sequential display_name="Attention"><vertical display_name="U">\n<html url_name="h"/>'
        '<problem url_name="heads"/>\n<poll url_name="p" display_name="Opinion"/>'
        '<library_content><problem url_name="deep:in"/></library_content></vertical></sequential>'
    ),
    "problem/heads.xml": GOOD,
    "problem/deep/in.xml": RADIO,
}  # fmt: skip


def packed(files: Mapping[str, str], kind: str) -> bytes:
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as made:
            for name, text in files.items():
                made.writestr(f"course/{name}", text)
    else:
        with tarfile.open(fileobj=out, mode="w:gz" if kind == "tar.gz" else "w") as archive:
            for name, text in files.items():
                entry = tarfile.TarInfo(f"course/{name}")
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar", "folder"])
def test_a_course_however_it_is_packed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("course" if kind == "folder" else f"course.{kind}")
    if kind == "folder":
        for name, text in COURSE.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
        (path / "problem/link.xml").symlink_to("/etc/passwd")
    else:
        path.write_bytes(packed(COURSE, kind))
    report = import_file(path, tmp_path / "out", BANK)
    assert [(item.id, item.name) for item in report.items] == [
        ("heads", "Heads"),
        ("softmax-axis", "Softmax axis"),
    ]
    assert [(skip.type, skip.name, skip.reason) for skip in report.skipped] == [
        ("poll", "Opinion", "the block <poll> isn't a problem")
    ]
    assert "topics: [week-3, attention]" in report.items[0].path.read_text()
    # importing it once more adds nothing
    assert not any(item.is_new for item in import_file(path, tmp_path / "out", BANK).items)


def test_a_part_of_a_course_that_holds_its_problems(importing: Importing) -> None:
    report = importing(f'<!-- x --><vertical display_name="U">{GOOD}{RADIO}</vertical>', "u.xml")
    assert [item.id for item in report.items] == ["heads", "softmax-axis"]


def faults(error: ExchangeError) -> list[str]:
    listed = [f"{Path(d.file).name}:{d.line}: {d.message}" for d in error.diagnostics]
    return listed or [error.what]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem/heads.xml": None}, "s.xml:2: the course holds no file 'problem/heads.xml'"),
        ({"chapter/w3.xml": '<chapter><sequential url_name="../../etc"/></chapter>'},
         "w3.xml:1: the course holds no file 'sequential/../../etc.xml'"),
        ({"problem/heads.xml": GOOD.replace("</numericalresponse>", "")},
         "heads.xml:3: this end tag closes nothing; <numericalresponse> of line 2 is still open"),
        ({"problem/heads.xml": "<html/>"}, "heads.xml:1: a problem begins with <problem>, not with <html>"),
        ({"problem/heads.xml": '<!DOCTYPE x [<!ENTITY a "b">]><problem>&a;</problem>'},
         "heads.xml:1: a DOCTYPE or an entity can't be declared here; delete the declaration"),
        ({"problem/heads.xml": "<a>" * 100}, "heads.xml:1: elements are nested more than 64 deep"),
        ({"problem/heads.xml": "\0"}, "heads.xml: the file holds NUL characters"),
        ({"chapter/w3.xml": "<vertical>" * 45 + "</vertical>" * 45},
         "w3.xml:1: a course is nested more than 40 deep"),
        ({"course.xml": None}, "neither imsmanifest.xml nor course.xml is here"),
        ({"problem/heads.xml": problem("<multiplechoiceresponse><choicegroup><choice correct='false'>a1"
          "</choice><choice correct='false'>b1</choice></choicegroup></multiplechoiceresponse>")},
         "heads.xml:1: this question asks nothing: its text is empty"),
    ],
)  # fmt: skip
def test_faults_of_a_course_are_shown_with_their_file(
    importing: Importing, changes: Mapping[str, str | None], message: str
) -> None:
    files = {name: text for name, text in {**COURSE, **changes}.items() if text is not None}
    with pytest.raises(ExchangeError) as caught:
        importing(packed(files, "tar.gz"), "course.tar.gz")
    assert any(message in fault or fault.endswith(message) for fault in faults(caught.value)), faults(
        caught.value
    )


def test_a_faulty_problem_does_not_stop_the_others(importing: Importing) -> None:
    files = {**COURSE, "problem/heads.xml": "<problem><p></problem>"}
    report = importing(packed(files, "tar.gz"), "course.tar.gz", keep_going=True)
    assert ([item.id for item in report.items], len(report.faults)) == (["softmax-axis"], 1)


def test_a_course_that_names_itself_ends(importing: Importing) -> None:
    files = {
        **COURSE,
        "chapter/w3.xml": '<chapter><chapter url_name="w3"/><course url_name="run"/></chapter>',
    }
    with pytest.raises(ExchangeError, match="the file holds no question"):
        importing(packed(files, "zip"), "course.zip")


def test_a_hostile_text_is_a_text(importing: Importing) -> None:
    nasty = "{{ 7*7 }} {% x %} $HOME <script>alert(1)</script><b>bold</b>"
    text = GOOD.replace("How many?", nasty).replace("Heads", "../../etc/passwd")
    report = importing(text, "p.xml")
    variant = again(report.items[0].path)
    assert report.items[0].path.parent.name == "out"
    assert "<script" not in variant.stem.html and "49" not in variant.stem.plain
    assert "a script" in report.items[0].notes[0].message
    shutil.rmtree(report.items[0].path.parent)
