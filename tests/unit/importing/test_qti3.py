"""QTI 3.0: our own export comes back as it was, and items of other tools mark as they did there."""

from __future__ import annotations

import io
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.answers import answer_type, right_response
from engine.authoring.importing import package_entries, qti_marking
from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportReport
from engine.errors import ExchangeError
from engine.export.exported_item import ExportedFamily, ExportedQuiz, exported_item
from engine.export.formats import quiz_format
from engine.grading import grade_answers
from engine.items import load_spec
from engine.items.bank import builtin_bank
from engine.model import Mode, Outcome, Part, Response, Variant
from engine.variants import draw_seeded
from tests.unit.importing.files_read import Importing

BANK = builtin_bank()


def drawn(item: str, seed: int = 0, **settings: object) -> Variant:
    variant = draw_seeded(BANK.load(item), version="v", registry=BANK.registry(), seed=seed)
    parts = tuple(replace(part, settings={**part.settings, **settings}) for part in variant.parts)
    return replace(variant, parts=parts) if settings else variant


def family(*variants: Variant) -> ExportedFamily:
    spec = BANK.load(variants[0].item)
    items = tuple(exported_item(f"{spec.id}-{n:03}", variant) for n, variant in enumerate(variants, 1))
    tags = (*spec.topics, f"difficulty-{spec.difficulty}", spec.bloom, spec.id)
    return ExportedFamily(spec.id, spec.title, spec.topics[:1], tags, items[0].points, "", items)


def package(*families: ExportedFamily, form: str = "qti3") -> bytes:
    return quiz_format(form).write(ExportedQuiz("quiz", "Week 3", families), lambda: None)


def read_back(tmp_path: Path, *families: ExportedFamily, form: str = "qti3") -> ImportReport:
    path = tmp_path / "quiz.zip"
    path.write_bytes(package(*families, form=form))
    return import_file(path, tmp_path / "out", BANK)


def again(path: Path) -> Variant:
    return draw_seeded(load_spec(path, registry=BANK.registry()), version="v", registry={}, seed=0)


def close(text: str) -> str:
    """Return a text without blanks: MathML doesn't keep those that TeX ignores."""
    return "".join(text.split())


# --- our own export ---


@pytest.mark.parametrize("form", ["qti3", "qti21"])
def test_the_whole_bank_comes_back(tmp_path: Path, form: str) -> None:
    variants = {item: drawn(item) for item in BANK.ids() if BANK.load(item).kind != "code"}
    report = read_back(tmp_path, *map(family, variants.values()), form=form)
    assert (report.skipped, report.faults, report.format) == ((), (), form)
    assert len(report.items) == len(variants)
    by_file = {f"items/{name}-001.xml": variant for name, variant in variants.items()}
    compared = 0
    for item in report.items:
        old, new = by_file[item.place.file], again(item.path)
        spec, original = load_spec(item.path, registry=BANK.registry()), BANK.load(old.item)
        assert (spec.difficulty, spec.bloom, spec.topics) == (
            original.difficulty,
            original.bloom,
            original.topics,
        )
        assert [close(hint.plain) for hint in new.hints] == [close(hint.plain) for hint in old.hints], (
            old.item
        )
        assert new.points == pytest.approx(old.points), old.item
        assert [part.type for part in new.parts] == [part.type for part in old.parts], old.item
        if "<figure" not in old.stem.html and len(old.parts) == 1:
            assert close(new.stem.plain).startswith(close(old.stem.plain)), old.item
        if old.solution is not None and "<figure" not in old.solution.html:
            assert close(new.solution.plain).startswith(close(old.solution.plain)), old.item  # type: ignore[union-attr]
        for before, after in zip(old.parts, new.parts, strict=True):
            compared += 1
            assert after.points == pytest.approx(before.points), old.item
            check_part(before, after, old, new)
            # two mistakes that give the same number are one here, as a note says
            if not any("lies too near" in note.message for note in item.notes):
                assert mistakes(after) == mistakes(before), (old.item, before.id)
    assert compared >= 180


def check_part(before: Part, after: Part, old: Variant, new: Variant) -> None:
    where = (old.item, before.id)
    for setting in ("policy", "partial", "near_credit", "order_credit", "case_sensitive", "unit"):
        if before.type != "number" or setting != "partial":
            assert after.settings.get(setting) == before.settings.get(setting), (*where, setting)
    if before.type in ("single_choice", "multiple_choice"):
        assert described(after) == described(before), where
    elif before.type in ("ordering", "matching"):
        words = answer_type(before.type).key_words
        assert close(words(after)) == close(words(before)), where
        told = [{close(p.text.plain): close(p.feedback) for p in part.prompts} for part in (before, after)]
        assert told[0] == told[1], where
        assert after.settings.get("feedback", "") == before.settings.get("feedback", ""), where
    elif before.type == "free_text":
        assert [(c["title"], c["points"], len(c["levels"])) for c in after.settings["rubric"]] == [
            (c["title"], c["points"], len(c["levels"])) for c in before.settings["rubric"]
        ], where
    else:
        right = {part.id: right_response(part) for part in new.parts if part.type != "free_text"}
        response = Response({**right, after.id: right_response(before)})
        graded = grade_answers(new, response, mode=Mode.PRACTICE, student=None)
        if "free_text" not in [part.type for part in new.parts]:
            assert graded.outcome is Outcome.RIGHT, where
    if before.key is not None and after.key is not None:
        check_bounds(before, after, where)


def mistakes(part: Part) -> list[str]:
    """Return the feedback of the known mistakes that can be typed into a field."""
    shape = part.key.shape if part.key is not None else ()
    fitting = [k for k in part.known_wrong if k.value is None or k.value.shape == shape]
    return [known.feedback for known in fitting if known.feedback]


def check_bounds(before: Part, after: Part, where: object) -> None:
    size = len(before.key.data)  # type: ignore[union-attr]
    sides = [[list(map(float, p.settings[side])) for side in ("lower", "upper")] for p in (before, after)]
    widths = [high - low for low, high in zip(*sides[0], strict=True)]
    for n in range(size):
        for side in (0, 1):
            # entries of a vector share the least tolerance of all
            off = abs(sides[0][side][n] - sides[1][side][n])
            assert off <= (widths[n] - min(widths)) / 2 + 1e-5, (where, n, sides)


def described(part: Part) -> dict[str, tuple[bool, str]]:
    """Return the options; of several right ones players say nothing, and so does the package."""
    is_quiet = part.type == "multiple_choice"
    return {
        close(o.text.plain): (o.correct, "" if is_quiet and o.correct else close(o.feedback))
        for o in part.options
    }


@pytest.mark.parametrize("policy", ["net-correct", "exact", "each-answer", "coverage"])
def test_several_picks_come_back_with_their_policy(tmp_path: Path, policy: str) -> None:
    variant = drawn("history-impact", policy=policy)
    report = read_back(tmp_path, family(variant))
    part = again(report.items[0].path).parts[0]
    assert (part.settings["policy"], report.items[0].notes) == (policy, ())
    assert described(part) == described(variant.parts[0])


@pytest.mark.parametrize("policy", ["exact", "positions", "pairs"])
def test_orders_come_back_with_their_policy(tmp_path: Path, policy: str) -> None:
    variant = drawn("decoder-step-order", policy=policy, feedback="Look at the arrows.")
    report = read_back(tmp_path, family(variant))
    part = again(report.items[0].path).parts[0]
    assert (part.settings["policy"], part.settings["feedback"]) == (policy, "Look at the arrows.")
    assert report.items[0].notes == ()


@pytest.mark.parametrize("policy", ["exact", "each-answer"])
def test_pairs_come_back_with_their_policy(tmp_path: Path, policy: str) -> None:
    report = read_back(tmp_path, family(drawn("limiting-cases", policy=policy)))
    assert again(report.items[0].path).parts[0].settings["policy"] == policy


@pytest.mark.parametrize("item", ["sdpa-matrix", "scaled-dot-score", "softmax-weights"])
def test_credit_for_what_is_nearly_right_comes_back(tmp_path: Path, item: str) -> None:
    variant = drawn(item, near_credit=0.5)
    report = read_back(tmp_path, family(variant))
    settings = again(report.items[0].path).parts[0].settings
    assert settings["near_credit"] == 0.5
    assert settings["partial"] == variant.parts[0].settings["partial"]


def test_each_variant_is_an_item(tmp_path: Path) -> None:
    report = read_back(tmp_path, family(*(drawn("scaled-dot-score", seed) for seed in range(3))))
    assert [item.id for item in report.items] == [
        report.items[0].id,
        f"{report.items[0].id}-2",
        f"{report.items[0].id}-3",
    ]
    assert [item.place.file for item in report.items] == [
        f"items/scaled-dot-score-00{n}.xml" for n in (1, 2, 3)
    ]


def test_one_item_without_its_package_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(package(family(drawn("bottleneck-why"))))) as packed:
        path = tmp_path / "item.xml"
        path.write_bytes(packed.read("items/bottleneck-why-001.xml"))
    report = import_file(path, tmp_path / "out", BANK)
    assert (report.format, [item.type for item in report.items]) == ("qti3", ["single_choice"])
    assert described(again(report.items[0].path).parts[0]) == described(drawn("bottleneck-why").parts[0])


# --- items of other tools ---

NAMESPACE = "http://www.imsglobal.org/xsd/imsqtiasi_v3p0"
TEMPLATES = "https://purl.imsglobal.org/spec/qti/v3p0/rptemplates"
SCORE = '<qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>'


def item(declarations: str, body: str, rules: str = "match_correct", **attributes: str) -> str:
    """Return an item of another tool; `rules` is the name of a template, or the rules themselves."""
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    processing = (
        f"<qti-response-processing>{rules}</qti-response-processing>"
        if "<" in rules
        else (f'<qti-response-processing template="{TEMPLATES}/{rules}.xml"/>' if rules else "")
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<qti-assessment-item xmlns="{NAMESPACE}" identifier="i" '
        f'title="An item"{more}>\n{declarations}\n{SCORE}\n<qti-item-body>\n{body}\n</qti-item-body>\n'
        f"{processing}\n</qti-assessment-item>\n"
    )


def response(
    correct: str, kind: str = "identifier", cardinality: str = "single", more: str = "", n: str = ""
) -> str:
    values = "".join(f"<qti-value>{value}</qti-value>" for value in correct.split("|"))
    return (
        f'<qti-response-declaration identifier="RESPONSE{n}" cardinality="{cardinality}" base-type="{kind}">'
        f"<qti-correct-response>{values}</qti-correct-response>{more}</qti-response-declaration>"
    )


def choices(texts: Sequence[str], most: int = 1, more: str = "") -> str:
    options = "".join(
        f'<qti-simple-choice identifier="{name}">{name.upper()} words{more}</qti-simple-choice>'
        for name in texts
    )
    return (
        f'<qti-choice-interaction response-identifier="RESPONSE" max-choices="{most}">'
        f"<qti-prompt>Which?</qti-prompt>{options}</qti-choice-interaction>"
    )


def entry(n: str = "") -> str:
    return f'<qti-text-entry-interaction response-identifier="RESPONSE{n}"/>'


def only(importing: Importing, text: str) -> Part:
    report = importing(text, "item.xml")
    assert (report.skipped, report.format) == ((), "qti3")
    return again(report.items[0].path).parts[0]


def test_a_choice_by_the_template(importing: Importing) -> None:
    part = only(importing, item(response("yy"), "<p>Text.</p>" + choices(["xx", "yy", "zz"])))
    assert described(part) == {"XXwords": (False, ""), "YYwords": (True, ""), "ZZwords": (False, "")}


@pytest.mark.parametrize(
    ("values", "policy", "is_noted"),
    [
        ({"xx": 1, "yy": 1, "zz": -1, "ww": -1}, "net-correct", False),
        ({"xx": 1, "yy": 1, "zz": -0.5, "ww": 0}, "coverage", True),
    ],
)
def test_a_mapping_becomes_the_policy_that_gives_the_same_points(
    importing: Importing, values: dict[str, float], policy: str, is_noted: bool
) -> None:
    entries = "".join(f'<qti-map-entry map-key="{n}" mapped-value="{v}"/>' for n, v in values.items())
    mapping = f'<qti-mapping lower-bound="0" default-value="0">{entries}</qti-mapping>'
    declaration = response("xx|yy", cardinality="multiple", more=mapping)
    report = importing(item(declaration, choices(list(values), 0), "map_response"), "item.xml")
    part = again(report.items[0].path).parts[0]
    assert (part.type, part.settings["policy"]) == ("multiple_choice", policy)
    assert {name for name, (correct, _) in described(part).items() if correct} == {"XXwords", "YYwords"}
    assert (
        any("its rule for several picks isn't kept" in n.message for n in report.items[0].notes) == is_noted
    )


def condition(test: str, score: str = "1", more: str = "") -> str:
    value = f'<qti-base-value base-type="float">{score}</qti-base-value>'
    setting = f'<qti-set-outcome-value identifier="SCORE">{value}</qti-set-outcome-value>'
    branch = f"<qti-response-if>{test}{setting}{more}</qti-response-if>"
    return f"<qti-response-condition>{branch}</qti-response-condition>"


@pytest.mark.parametrize(
    ("attributes", "right", "wrong"),
    [
        ('tolerance-mode="absolute" tolerance="0.1 0.3"', ["1.9", "2.3", "2"], ["1.89", "2.31"]),
        ('tolerance-mode="relative" tolerance="10"', ["1.8", "2.2"], ["1.79", "2.21"]),
        ('tolerance-mode="absolute" tolerance="0"', ["2", "2.0"], ["2.1", "1.9"]),
        ('tolerance-mode="exact"', ["2", "2.0"], ["2.1", "1.9"]),
    ],
)
def test_numbers_are_right_where_they_were(
    importing: Importing, attributes: str, right: list[str], wrong: list[str]
) -> None:
    variable = '<qti-variable identifier="RESPONSE"/>'
    test = f'<qti-equal {attributes}><qti-correct identifier="RESPONSE"/>{variable}</qti-equal>'
    text = item(response("2", "float"), f"<p>How many?</p><p>{entry()} metres</p>", condition(test))
    report = importing(text, "item.xml")
    variant = again(report.items[0].path)
    assert variant.parts[0].settings["unit"] == "metres"
    for answers, outcome in ((right, Outcome.RIGHT), (wrong, Outcome.WRONG)):
        for answer in answers:
            graded = grade_answers(variant, Response({"answer": answer}), mode=Mode.PRACTICE, student=None)
            assert graded.outcome is outcome, answer


def test_words_with_their_case_and_a_share(importing: Importing) -> None:
    entries = (
        '<qti-map-entry map-key="ReLU" mapped-value="2" case-sensitive="true"/>'
        '<qti-map-entry map-key="GELU" mapped-value="1" case-sensitive="true"/>'
    )
    declaration = response("ReLU", "string", more=f'<qti-mapping default-value="0">{entries}</qti-mapping>')
    report = importing(item(declaration, f"<p>Name it.</p><p>{entry()}</p>", "map_response"), "item.xml")
    part = again(report.items[0].path).parts[0]
    assert (part.type, part.key_ids, part.settings["case_sensitive"]) == ("token", ("ReLU",), True)
    assert [note.message for note in report.items[0].notes] == ["50 % for 'GELU' isn't kept: it earns 0 here"]


def test_fields_in_a_sentence_become_steps(importing: Importing) -> None:
    inline = (
        '<qti-inline-choice-interaction response-identifier="RESPONSE_1">'
        '<qti-inline-choice identifier="xx">rows</qti-inline-choice>'
        '<qti-inline-choice identifier="yy">columns</qti-inline-choice>'
        "</qti-inline-choice-interaction>"
    )
    rules = "".join(
        f"<qti-response-condition><qti-response-if><qti-match>"
        f'<qti-variable identifier="RESPONSE_{n}"/><qti-correct identifier="RESPONSE_{n}"/></qti-match>'
        f'<qti-set-outcome-value identifier="SCORE"><qti-sum><qti-variable identifier="SCORE"/>'
        f'<qti-base-value base-type="float">{points}</qti-base-value></qti-sum></qti-set-outcome-value>'
        "</qti-response-if></qti-response-condition>"
        for n, points in ((1, 1), (2, 3))
    )
    body = f"<p>Softmax runs over the {inline} of the matrix.</p><p>It has {entry('_2')} of them.</p>"
    declarations = response("xx", n="_1") + response("4", "integer", n="_2")
    report = importing(item(declarations, body, rules), "item.xml")
    variant = again(report.items[0].path)
    assert [(part.type, part.points) for part in variant.parts] == [("single_choice", 1), ("number", 3)]
    assert variant.parts[1].settings["decimals"] == 0


def test_feedback_goes_where_it_was_shown(importing: Importing) -> None:
    shown = '<qti-feedback-inline outcome-identifier="FB" identifier="{0}">about {0}</qti-feedback-inline>'
    options = "".join(
        f'<qti-simple-choice identifier="{n}">{n} words{shown.format(n)}</qti-simple-choice>'
        for n in ("xx", "yy")
    )
    name = "qti-choice-interaction"
    body = f'<p>T</p><{name} response-identifier="RESPONSE" max-choices="1">{options}</{name}>'
    outcome = '<qti-outcome-declaration identifier="FB" cardinality="single" base-type="identifier"/>'
    rules = (
        condition(
            '<qti-match><qti-variable identifier="RESPONSE"/><qti-correct identifier="RESPONSE"/></qti-match>'
        )
        + '<qti-set-outcome-value identifier="FB"><qti-variable identifier="RESPONSE"/>'
        "</qti-set-outcome-value>"
    )
    part = only(importing, item(response("xx") + outcome, body, rules))
    assert described(part) == {"xxwords": (True, "aboutxx"), "yywords": (False, "aboutyy")}


def test_an_order_by_the_template_is_all_or_nothing(importing: Importing) -> None:
    cards = "".join(
        f'<qti-simple-choice identifier="{n}">card {n}</qti-simple-choice>' for n in ("q", "r", "s")
    )
    body = (
        f'<p>Sort.</p><qti-order-interaction response-identifier="RESPONSE">{cards}</qti-order-interaction>'
    )
    part = only(importing, item(response("r|s|q", cardinality="ordered"), body))
    texts = {option.id: option.text.plain for option in part.options}
    assert (part.settings["policy"], [texts[name] for name in part.key_ids]) == (
        "exact",
        ["card r", "card s", "card q"],
    )


def test_an_item_without_rules_says_so(importing: Importing) -> None:
    report = importing(item(response("yy"), choices(["xx", "yy"]), ""), "item.xml")
    assert [note.message for note in report.items[0].notes] == [
        "no rule sets its score; its correct response is the key"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (item("", "<p>Read this.</p>"), "it only shows a text and asks nothing"),
        (
            item(response("x"), '<p>T <qti-hottext-interaction response-identifier="RESPONSE"/></p>'),
            "words of a text are marked",
        ),
        (
            item(response("x"), '<p>T <qti-graphic-order-interaction response-identifier="RESPONSE"/></p>'),
            "a picture is clicked on",
        ),
        (item('<qti-template-declaration identifier="N"/>' + response("xx"), choices(["xx", "yy"])),
         "its numbers are drawn by templates"),
        (item(response("xx"), choices(["xx", "yy"]), adaptive="true"),
         "it is adaptive: its rules remember earlier answers"),
        (item(response("xx"), choices(["xx", "yy"]), condition("<qti-custom-operator/>")),
         "its rules hold <qti-custom-operator>, which isn't carried out here"),
        (item(response("xx"), choices(["xx", "yy"]), "CC2_map_response"),
         "its rules hold the template 'CC2_map_response', which isn't carried out here"),
        (item("", choices(["xx", "yy"])), "a field's response isn't declared"),
        (item(response("x", "string"), '<p>T</p>' + entry().replace("text-entry", "extended-text")),
         "a free text is marked by a person"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_skipped_with_its_reason(
    importing: Importing, text: str, reason: str
) -> None:
    report = importing(text, "item.xml")
    assert report.items == ()
    (skip,) = report.skipped
    assert (skip.reason, skip.place.line) == (reason, 2)
    assert skip.next_step


# --- hostile files ---


def zipped(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out.getvalue()


def manifest(*addresses: str, kind: str = "imsqti_item_xmlv3p0") -> str:
    resources = "\n".join(f'<resource identifier="r" type="{kind}" href="{href}"/>' for href in addresses)
    return f'<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1">\n<resources>\n{resources}\n</resources></manifest>'


GOOD = item(response("yy"), choices(["xx", "yy"]))
ENTITY = GOOD.replace(
    "<qti-assessment-item", '<!DOCTYPE x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;&a;">]>\n<qti-assessment-item', 1
)


def refused(importing: Importing, content: str | bytes, name: str = "quiz.zip") -> list[str]:
    """Return what is wrong with a file, as ``place: message``."""
    with pytest.raises(ExchangeError) as caught:
        importing(content, name)
    error = caught.value
    found = [f"{Path(d.file).name}:{d.line}: {d.message}" for d in error.diagnostics]
    return found or [f"{error.where}: {error.what}".rpartition("/quiz")[2]]


def test_faults_of_a_package_are_shown_with_their_file_and_line(importing: Importing) -> None:
    broken = GOOD.replace("</qti-item-body>", "")
    files: dict[str, str | bytes] = {
        "imsmanifest.xml": manifest(
            "a.xml", "b.xml", "../c.xml", "/etc/passwd", "d%2e.xml", "e\\f.xml", "http://x/y.xml", ""
        ),
        "a.xml": GOOD, "b.xml": broken,
    }  # fmt: skip
    assert refused(importing, zipped(files)) == [
        "imsmanifest.xml:5: '../c.xml' lies outside the package",
        "imsmanifest.xml:6: '/etc/passwd' isn't an address within the package",
        "imsmanifest.xml:7: the package holds no file 'd%2e.xml'",
        "imsmanifest.xml:8: 'e\\f.xml' isn't an address within the package",
        "imsmanifest.xml:9: 'http://x/y.xml' isn't an address within the package",
        "imsmanifest.xml:10: this item has no file: 'href' is missing",
        "b.xml:9: this end tag closes nothing; <qti-item-body> of line 5 is still open",
    ]
    report = importing(zipped(files), "quiz.zip", keep_going=True)
    assert (len(report.items), len(report.faults)) == (1, 7)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({"a.xml": GOOD}), "neither imsmanifest.xml nor course.xml is here"),
        (zipped({"imsmanifest.xml": manifest("a.xml", kind="imsqti_test_xmlv3p0")}),
         "the manifest names no item of QTI 3.0 or 2, and no quiz of QTI 1.2"),
        (zipped({"imsmanifest.xml": manifest("a.xml", kind="webcontent")}),
         "the manifest names no item of QTI 3.0 or 2, and no quiz of QTI 1.2"),
        (zipped({"imsmanifest.xml": "no XML"}), "this isn't XML: syntax error"),
        (zipped({"imsmanifest.xml": ""}), "the file holds no XML element"),
        (zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": ENTITY}),
         "a DOCTYPE or an entity can't be declared here; delete the declaration"),
        (zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": "<quiz/>"}),
         "an item begins with <qti-assessment-item>, or <assessmentItem> in QTI 2, not with <quiz>"),
        (zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": b"\xff\xfe\x00"}), "isn't UTF-16 text"),
        (zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": "<a>" * 100}), "nested more than 64 deep"),
        (zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": b" " * 5 * 2**20}),
         "unpacks to more than 200 times its size, as bombs do"),
        (b"PK\x03\x04 and nothing else", "the archive is damaged"),
        (zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": GOOD})[:-40], "the archive is damaged"),
    ],
)  # fmt: skip
def test_what_is_no_package_is_refused(importing: Importing, content: bytes, message: str) -> None:
    assert message in refused(importing, content)[0]


def test_a_size_that_an_archive_claims_decides_nothing(importing: Importing, tmp_path: Path) -> None:
    content = bytearray(zipped({"imsmanifest.xml": manifest("a.xml"), "a.xml": GOOD}))
    at = content.rfind(b"PK\x01\x02")  # the directory's entry of a.xml: one GiB, says its size
    content[at + 24 : at + 28] = (2**30).to_bytes(4, "little")
    assert len(importing(bytes(content), "quiz.zip").items) == 1
    content[at + 24 : at + 28] = (10).to_bytes(4, "little")
    assert refused(importing, bytes(content)) == ["imsmanifest.xml:3: a.xml: this entry is damaged"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "quiz.zip"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<assessmentTest xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1"/>', "a test only names its items"),
        (f'<qti-assessment-test xmlns="{NAMESPACE}"/>', "a test only names its items"),
        (manifest("a.xml"), "a manifest only names the files of its package"),
    ],
)
@pytest.mark.parametrize("head", ["", '<?xml version="1.0"?>\n'])
def test_other_xml_is_refused_with_what_to_do(
    importing: Importing, text: str, message: str, head: str
) -> None:
    with pytest.raises(ExchangeError, match=message) as caught:
        importing(head + text, "q.xml")
    assert caught.value.next_step


def test_rules_that_take_too_long_are_not_tried_out(importing: Importing) -> None:
    value = '<qti-base-value base-type="identifier">xx</qti-base-value>'
    pick = f'<qti-member>{value}<qti-variable identifier="RESPONSE"/></qti-member>'
    rules = condition(f"<qti-or>{pick * 1_900}</qti-or>") * 8
    names = ["xx", *(f"n{n}" for n in range(7))]
    report = importing(item(response("xx|n1", cardinality="multiple"), choices(names, 0), rules), "item.xml")
    assert (
        report.skipped[0].reason
        == "its rules hold more rules than can be tried out, which isn't carried out here"
    )


def test_the_order_of_a_file_is_the_order_of_its_items_and_bytes_repeat(tmp_path: Path) -> None:
    content = package(
        *(family(drawn(name)) for name in ("bottleneck-why", "softmax-weights", "limiting-cases"))
    )
    made = []
    for folder in ("one", "two"):
        path = tmp_path / "quiz.zip"
        path.write_bytes(content)
        report = import_file(path, tmp_path / folder, BANK)
        made.append([item.path.read_bytes() for item in report.items])
    assert made[0] == made[1]


def numbers_item(fields: int, comparisons: int) -> str:
    """Return an item without keys, whose rules are looked through for each of its fields."""
    declarations = "".join(
        f'<qti-response-declaration identifier="R{n}" cardinality="single" base-type="float"/>'
        for n in range(fields)
    )
    body = "".join(
        f'<p>x <qti-text-entry-interaction response-identifier="R{n}"/></p>' for n in range(fields)
    )
    value = '<qti-base-value base-type="float">{}</qti-base-value>'
    tests = "".join(
        f'<qti-gte><qti-variable identifier="R{n % fields}"/>{value.format(n)}</qti-gte>'
        for n in range(comparisons)
    )
    return item(declarations, body, condition(f"<qti-or>{tests}</qti-or>"))


def test_what_a_package_takes_is_bounded_and_not_only_each_item(
    importing: Importing, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as many steps as six of the longest items take; thirty of them are in the package
    monkeypatch.setattr(qti_marking, "MAX_PACKAGE_STEPS", 300_000)
    monkeypatch.setattr(qti_marking, "MAX_STEPS", 50_000)
    names = [f"n{n}.xml" for n in range(30)]
    hostile = numbers_item(60, 1_900)
    files = {
        "imsmanifest.xml": manifest("good.xml", *names),
        "good.xml": GOOD,
        **dict.fromkeys(names, hostile),
    }
    before = time.process_time()
    report = importing(zipped(files), "quiz.zip")
    reasons = Counter(skip.reason for skip in report.skipped)
    assert (len(report.items), sum(reasons.values())) == (1, 30)
    spent = "the rules of its package take too long to be tried out"
    each = "its rules hold more rules than can be tried out, which isn't carried out here"
    assert reasons[spent] >= 23 and reasons[spent] + reasons[each] == 30
    assert {s.next_step for s in report.skipped if s.reason == spent} == {"export fewer questions at a time"}
    # each of them by itself would be looked through for minutes
    assert time.process_time() - before < 30
    monkeypatch.setattr(package_entries, "MAX_ELEMENTS", 100_000)
    assert refused(importing, zipped(files))[0].endswith("its files hold more than 100,000 elements together")
