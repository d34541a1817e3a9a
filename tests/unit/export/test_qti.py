"""QTI packages: complete, always the same bytes, safe for what players do with texts, and mended for 2.1."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest
import qti_convert
from defusedxml.ElementTree import fromstring
from qti_convert import downgrade_package_files, upgrade_qti2_to_qti3

from engine.export.exported_item import ExportedFamily, ExportedQuiz, exported_item
from engine.export.formats import FORMATS, QuizFormat, quiz_format
from engine.export.formats.qti21 import qti21_files
from engine.export.qti.field_xml import FieldNames
from engine.export.qti.package_files import family_losses, package_files
from engine.export.qti.processing import lies_between, number_text
from engine.export.qti.xml_pieces import attribute_text, element, escaped, identifier_of
from engine.items.bank import builtin_bank
from engine.model import ChoiceOption, Part, RenderedText, Variant
from engine.prose.markdown import render_prose
from engine.variants import draw_seeded

QTI = "{http://www.imsglobal.org/xsd/imsqtiasi_v3p0}"
QTI21 = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
# In the order in which an item must have them.
ITEM_ORDER = (
    "response-declaration",
    "outcome-declaration",
    "item-body",
    "response-processing",
    "modal-feedback",
)
# What an item body may hold as a child, of what we write.
BLOCKS = {"p", "div", "ul", "ol", "table", "pre", "blockquote", "math"} | {
    f"qti-{name}"
    for name in (
        "choice-interaction",
        "order-interaction",
        "match-interaction",
        "extended-text-interaction",
        "feedback-block",
        "rubric-block",
    )
}
ITEMS = (
    "advantages-limitations",
    "alignment-orientation",
    "decoder-step-order",
    "limiting-cases",
    "scaled-dot-score",
    "sdpa-matrix",
    "memory-weights",
    "greedy-path",
    "own-context-explained",
    "alignment-read",
)


def _family(item: str, count: int = 1, section: str = "") -> ExportedFamily:
    bank = builtin_bank()
    spec, version, registry = bank.load(item), bank.version(item), bank.registry()
    variants = [draw_seeded(spec, version=version, registry=registry, seed=seed) for seed in range(count)]
    items = tuple(exported_item(f"{item}-{n:03d}", v) for n, v in enumerate(variants, start=1))
    return ExportedFamily(item, spec.title, ("Attention",), ("easy",), items[0].points, section, items)


@pytest.fixture(scope="module")
def quiz() -> ExportedQuiz:
    return ExportedQuiz("attention", "Attention", tuple(_family(item, 2) for item in ITEMS))


def _none() -> None:
    pass


def _texts(files: dict[str, str | bytes]) -> dict[str, Element]:
    return {path: fromstring(content) for path, content in files.items() if path.endswith((".xml", ".svg"))}


def _names(root: Element, prefix: str) -> list[str]:
    return [child.tag.removeprefix(prefix) for child in root]


def test_every_file_is_listed_and_every_address_leads_to_a_file(quiz: ExportedQuiz) -> None:
    files = package_files(quiz, _none)
    manifest = _texts(files)["imsmanifest.xml"]
    packaging = "{http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1}"
    listed = [file.get("href") for file in manifest.iter(f"{packaging}file")]
    assert sorted(listed) == sorted(set(files) - {"imsmanifest.xml"})
    names = {resource.get("identifier") for resource in manifest.iter(f"{packaging}resource")}
    assert {one.get("identifierref") for one in manifest.iter(f"{packaging}dependency")} <= names
    assert len(names) == len(listed)
    references = _texts(files)["test.xml"].iter(f"{QTI}qti-assessment-item-ref")
    addresses = [one.get("href") for one in references]
    assert len(addresses) == 2 * len(ITEMS) and set(addresses) <= set(files)
    pictures = [
        (path, image.get("src"), image.get("alt"))
        for path, root in _texts(files).items()
        for image in root.iter(f"{QTI}img")
    ]
    assert pictures and all(f"items/{source}" in files and alt for _, source, alt in pictures)


def test_a_test_draws_one_of_the_variants_of_each_family(quiz: ExportedQuiz) -> None:
    test = _texts(package_files(quiz, _none))["test.xml"]
    banks = [
        s for s in test.iter(f"{QTI}qti-assessment-section") if s.find(f"{QTI}qti-selection") is not None
    ]
    assert len(banks) == len(ITEMS)
    for bank in banks:
        assert _names(bank, QTI)[:2] == ["qti-selection", "qti-ordering"]
        selection = bank.find(f"{QTI}qti-selection")
        assert selection is not None and selection.get("select") == "1"
        assert len(bank.findall(f"{QTI}qti-assessment-item-ref")) == 2


def test_sections_of_a_blueprint_are_sections_of_the_test() -> None:
    families = [_family("alignment-orientation", 1, s) for s in ("Reading", "Reading", "Computing")]
    test = _texts(package_files(ExportedQuiz("q", "Q", tuple(families)), _none))["test.xml"]
    titles = [section.get("title") for section in test.iter(f"{QTI}qti-assessment-section")]
    assert titles == ["Reading", "Computing"]


def test_items_have_their_pieces_in_order_and_declare_what_they_use(quiz: ExportedQuiz) -> None:
    for path, root in _texts(package_files(quiz, _none)).items():
        if not path.startswith("items/") or path.endswith(".svg"):
            continue
        names = [name.removeprefix("qti-") for name in _names(root, QTI)]
        assert names == sorted(names, key=ITEM_ORDER.index), path
        declared = {
            one.get("identifier")
            for kind in ("response", "outcome")
            for one in root.iter(f"{QTI}qti-{kind}-declaration")
        }
        used = {one.get("identifier") for one in root.iter(f"{QTI}qti-variable")}
        used |= {one.get("identifier") for one in root.iter(f"{QTI}qti-set-outcome-value")}
        used |= {one.get("response-identifier") for one in root.iter()} - {None}
        used |= {one.get("n") for one in root.iter(f"{QTI}qti-index")}
        assert used <= declared, path
        body = root.find(f"{QTI}qti-item-body")
        assert body is not None
        assert {re.sub(r"{.*}", "", child.tag) for child in body} <= BLOCKS, path
        # HTML ends a paragraph where a block begins: what one player compiles isn't XML any more
        within = [one for p in root.iter(f"{QTI}p") for one in p.iter() if one is not p]
        assert not {one.tag.removeprefix(QTI) for one in within} & BLOCKS - {"math"}, path


def test_the_same_quiz_gives_the_same_bytes(quiz: ExportedQuiz) -> None:
    for name in ("qti3", "qti21"):
        chosen = quiz_format(name)
        first = chosen.write(quiz, _none)
        assert first == chosen.write(quiz, _none)
        assert zipfile.ZipFile(io.BytesIO(first)).testzip() is None


def test_each_variant_is_a_step(quiz: ExportedQuiz) -> None:
    steps: list[int] = []
    quiz_format("qti3").write(quiz, lambda: steps.append(1))
    assert len(steps) == 2 * len(ITEMS)


def test_formats_are_registered() -> None:
    assert {"qti3", "qti21"} <= set(FORMATS)
    assert all(isinstance(quiz_format(name), QuizFormat) for name in ("qti3", "qti21"))


def _choice(stem: str, options: list[str]) -> ExportedFamily:
    shown = tuple(
        ChoiceOption(
            letter, RenderedText(text, escaped_html(text), text), correct=letter == "a", feedback=text
        )
        for letter, text in zip("abcd", options, strict=False)
    )
    part = Part("answer", "single_choice", 1.0, key_ids=("a",), options=shown)
    variant = Variant("v", "hostile", "1", "A ]]> & <title>", render_prose(stem), (part,))
    return ExportedFamily(
        "hostile", "T", ("<b>",), ("a&b",), 1.0, "", (exported_item("hostile-001", variant),)
    )


def escaped_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


HOSTILE = (
    "]]> & <script>alert(1)</script>",
    "{{ 7 * 7 }} {{{ }} ~ = # : $",
    "emoji \U0001f600, right to left \u05d0\u05d1\u05d2 \u202e",
    "x" * 2000,
)


@pytest.mark.parametrize("name", ["qti3", "qti21"])
def test_hostile_texts_stay_texts(name: str) -> None:
    family = _choice("Which of `{{ 7 * 7 }}` and `]]>`?", list(HOSTILE))
    data = quiz_format(name).write(ExportedQuiz("q", "Q & <Q>", (family,)), _none)
    archive = zipfile.ZipFile(io.BytesIO(data))
    text = archive.read("items/hostile-001.xml").decode()
    assert "{{" not in text.replace("<!--", "") and "]]>" not in text and "<script" not in text
    root = fromstring(text)
    space = QTI if name == "qti3" else QTI21
    choices = list(root.iter(f"{space}qti-simple-choice" if name == "qti3" else f"{space}simpleChoice"))
    assert [" ".join("".join(choice.itertext()).split()) for choice in choices] == [
        " ".join(text.split()) for text in HOSTILE
    ]


def test_what_xml_cannot_hold_is_left_out() -> None:
    assert escaped("a\x00b\x1fc\ufffe") == "abc"
    assert attribute_text('a"\x0b\n') == "a&quot;&#10;"
    assert fromstring(element("a", escaped("\ud800 & "), b='"<&>')).get("b") == '"<&>'


def test_identifiers_and_numbers_are_written_as_qti_wants_them() -> None:
    assert identifier_of("3 heads / why") == "_3-heads-why"
    assert [number_text(x) for x in (0, 1, 0.1 + 0.2, -1 / 3, 1e-12, 2000.0)] == [
        "0",
        "1",
        "0.3",
        "-0.333333333",
        "0",
        "2000",
    ]
    assert FieldNames("_2").outcome("AT-a") == "AT-a_2"


def test_blanks_are_no_zero() -> None:
    # One player takes blanks for 0; only where 0 is right it costs a condition.
    assert "qti-equal" in lies_between("R", "-0.5", "0.5")
    assert "qti-equal" not in lies_between("R", "0.25", "0.5")
    assert "tolerance" not in lies_between("R", "0.25", "0.5")


def test_losses_are_said_once_for_an_item_and_by_field() -> None:
    losses = family_losses(_family("memory-weights", 3))
    assert len(losses) == len({(loss.field, loss.message) for loss in losses})
    assert any("own earlier values" in loss.message for loss in losses)
    assert {loss.item for loss in losses} == {"memory-weights"}
    assert any("1/3" in loss.message for loss in family_losses(_family("scaled-dot-score")))
    assert any("person" in loss.message for loss in family_losses(_family("own-context-explained")))


def test_nothing_of_qti_3_is_left_in_qti_21(quiz: ExportedQuiz) -> None:
    files = qti21_files(package_files(quiz, _none))
    assert next(iter(files)) == "imsmanifest.xml"
    for path, root in _texts(files).items():
        if path.startswith("items/") and path.endswith(".xml"):
            assert root.tag == f"{QTI21}assessmentItem"
            assert {one.tag.split("}")[0] for one in root.iter()} <= {
                QTI21[:-1],
                "{http://www.w3.org/1998/Math/MathML",
            }
    assert _texts(files)["test.xml"].tag == f"{QTI21}assessmentTest"


def test_addresses_of_response_processing_are_mended() -> None:
    item = element(
        "qti-assessment-item",
        element("qti-item-body", element("p", "x")),
        element(
            "qti-response-processing",
            template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct",
        ),
        xmlns=QTI[1:-1],
        identifier="i",
        title="t",
        time_dependent=False,
    )
    text = qti21_files({"items/i.xml": item})["items/i.xml"]
    assert isinstance(text, str)
    assert 'template="http://www.imsglobal.org/question/qti_v2p1/rptemplates/match_correct"' in text


def test_qti_21_says_what_qti_3_said(quiz: ExportedQuiz) -> None:
    new = package_files(quiz, _none)
    old = qti21_files(new)
    for path in [path for path in new if path.startswith("items/") and path.endswith(".xml")]:
        again = fromstring(upgrade_qti2_to_qti3(old[path]))
        once = fromstring(new[path])
        assert _processing(again) == _processing(once), path


def _processing(root: Element) -> list[tuple[str, dict[str, str], str]]:
    found = root.find(f"{QTI}qti-response-processing")
    assert found is not None
    return [(one.tag, dict(one.attrib), (one.text or "").strip()) for one in found.iter()]


@pytest.mark.parametrize("name", ["qti3", "qti21"])
def test_braces_of_a_title_and_of_a_right_text_stay_text(name: str) -> None:
    one = _choice("Which?", ["a", "b"])
    title = "What does {{ x }} print, & why?"
    part = Part("answer", "token", 1.0, key_ids=("{{x}}", "x"))
    variant = replace(one.items[0].variant, title=title, parts=(part,))
    item = exported_item("hostile-001", variant)
    data = quiz_format(name).write(ExportedQuiz("q", "Q", (replace(one, title=title, items=(item,)),)), _none)
    archive = zipfile.ZipFile(io.BytesIO(data))
    manifest = fromstring(archive.read("imsmanifest.xml"))
    lom = "{http://ltsc.ieee.org/xsd/LOM}"
    strings = manifest.findall(f".//{lom}general/{lom}title/{lom}string")
    assert [(string.text, len(string)) for string in strings] == [(title, 0)]
    root = fromstring(archive.read("items/hostile-001.xml"))
    space, value = (QTI, "qti-value") if name == "qti3" else (QTI21, "value")
    assert root.get("title") == title
    # a value holds characters only; the mapping accepts both texts
    assert all(len(one) == 0 for one in root.iter(f"{space}{value}"))
    key = "map-key" if name == "qti3" else "mapKey"
    assert {"{{x}}", "x"} <= {one.get(key) for one in root.iter()}


def _as_a_whole(files: dict[str, str | bytes]) -> dict[str, str | bytes]:
    """Return what the converter makes of whole files."""
    return dict(downgrade_package_files(dict(files)).files)


def test_converted_by_tags_the_whole_bank_is_what_the_converter_makes_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bank = builtin_bank()
    families = [_family(item, 2) for item in bank.ids() if bank.load(item).kind != "code"]
    stem = 'Which of `{{ 7 * 7 }}`, `/qti/v3p0` and `class="qti-x"`?'
    # a title may name what no address of QTI 2.1 may
    hostile = replace(_choice(stem, [*HOSTILE[:3], "x\n& <y>"]), title="A /qti/v3p0 and imsqtiasi_v3p0")
    quiz = ExportedQuiz("q", "Q & <Q>\t\u00e9", (*families, hostile))
    whole: list[str] = []
    convert = qti_convert.convert_qti3_to_qti21

    def counted(text: str, **settings: object) -> object:
        if "qti-response-processing>" in text or text.startswith("<?xml"):
            whole.append(text)
        return convert(text, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(qti_convert, "convert_qti3_to_qti21", counted)
    files = package_files(quiz, _none)
    converted, expected = qti21_files(files), _as_a_whole(files)
    assert list(converted) == list(expected)
    for path, content in expected.items():
        assert converted[path] == content, path
    # only the test is converted as a whole: a thousand variants a second rest on it
    assert len(files) > 200 and len(whole) == 1 and "<qti-assessment-test" in whole[0]


@pytest.mark.parametrize(
    "body",
    [
        "<p>a\rb</p>",
        "<p>caf&#233; &quot;x&quot;</p>",
        "<p>a<!-- note -->b</p>",
        "<section><mark>x</mark></section>",
        "<video src='a.mp4'><source src='b.mp4'/></video>",
        '<p title="a > b">x</p>',
        "<p data-x='1' dir='rtl' class='a qti-b'>x</p>",
        "<qti-content-body><p></p></qti-content-body><p/>",
        '<math xmlns="http://www.w3.org/1998/Math/MathML" dir="ltr"><mi class="a">x</mi><mo>&lt;</mo></math>',
    ],
)
def test_what_another_writer_might_put_into_an_item_is_converted_alike(body: str) -> None:
    item = element(
        "qti-assessment-item",
        element("qti-item-body", body),
        xmlns=QTI[1:-1],
        identifier="i",
        title="a\tb & c",
        time_dependent=False,
    )
    files: dict[str, str | bytes] = {"items/i.xml": item}
    assert qti21_files(files) == _as_a_whole(files)
