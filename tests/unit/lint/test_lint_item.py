"""Spoiled items fail lint, each for its own reason and at its own place."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any, Protocol

import pytest

from engine.authoring.lint import FindingSeverity, LintFinding, LintReport
from engine.authoring.lint.lint_items import lint_bank
from engine.authoring.lint.rules import draws, keys, rendered_text, responses
from engine.authoring.lint.subject import LintSubject
from engine.items import Bank, builtin_root
from engine.items.bank_files import TaughtTerm
from engine.model import FloatArray, RenderedText, Variant

Data = dict[str, Any]


class Spoils(Protocol):
    folder: Any

    def lint(self, item: str, change: Any, *, seeds: int = 3, strict: bool = False) -> LintReport: ...

    def subject(self, item: str, change: Any = ..., *, seeds: int = 3) -> LintSubject: ...


def only(found: tuple[LintFinding, ...] | list[LintFinding]) -> LintFinding:
    assert len(found) == 1, ["\n".join(f.lines()) for f in found]
    return found[0]


def test_an_unspoiled_item_passes(spoiler: Spoils) -> None:
    report = spoiler.lint("softmax-weights", lambda data: None)
    assert report.findings == ()
    assert report.passed
    assert report.facts["variants_tried"] == 3


# --- the printed exercises, end to end ------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "erratum", "reason"),
    [
        ("l16-ex3-softmax-weights", "F-02", "no printed option is the key rounded to 3 decimals"),
        ("l16-ex5-alignment-vector", "F-03", "no printed option is right"),
    ],
)
def test_removing_a_declaration_fails(spoiler: Spoils, item: str, erratum: str, reason: str) -> None:
    def remove(data: Data) -> None:
        data["errata"] = [e for e in data["errata"] if e["id"] != erratum]
        if not data["errata"]:
            data |= {"errata": [], "status": "ok"}

    report = spoiler.lint(item, remove)
    assert not report.passed
    found = next(f for f in report.errors if f.rule == "printed")
    assert found.message.startswith(reason)
    assert found.file.endswith(f"{item}.yaml")
    assert found.line is not None
    assert found.source_line.strip() == "options:"
    shown = "\n".join(found.lines())
    assert f"{item}.yaml:{found.line}:{found.column}: error [printed]" in shown
    assert "next: declare an erratum of kind" in shown


def test_a_declared_erratum_is_noted_as_a_fact(spoiler: Spoils) -> None:
    assert spoiler.lint("l16-ex3-softmax-weights", lambda data: None).facts["errata"] == ["F-02"]
    assert "errata" not in spoiler.lint("l16-ex1-context-vector", lambda data: None).facts


def test_a_scored_key_that_is_not_the_printed_question_fails(spoiler: Spoils) -> None:
    def other(data: Data) -> None:
        data["answer"]["key"] = "2 * context(w, H)"
        data.pop("effort", None)  # the product is more work

    found = only(spoiler.lint("l16-ex1-context-vector", other).errors)
    assert found.message.startswith("the key of the scored version isn't the recomputed value")
    assert (found.expected, found.got) == ("1.700000, 0.300000", "3.400000, 0.600000")


def test_other_decimals_than_the_print_fail(spoiler: Spoils) -> None:
    def other(data: Data) -> None:
        data["answer"]["decimals"] = 3

    found = only(spoiler.lint("l16-ex1-context-vector", other).errors)
    assert (found.expected, found.got) == ("2", "3")


# --- draws ------------------------------------------------------------------------------------


def test_a_constraint_that_never_holds_is_named(spoiler: Spoils) -> None:
    def impossible(data: Data) -> None:
        data["constraints"].append({"expr": "max(e) > 100", "message": "the moon is made of cheese"})

    found = only(spoiler.lint("softmax-weights", impossible).errors)
    assert found.rule == "draws"
    assert "the moon is made of cheese" in "\n".join(found.lines())
    assert found.seed == 0


def test_a_misconception_that_always_gives_the_key_fails(spoiler: Spoils) -> None:
    def same(data: Data) -> None:
        data["misconceptions"].append({"id": "m-uniform", "expr": "softmax(e + 1)"})

    found = only(spoiler.lint("softmax-weights", same).errors)
    assert "m-uniform" in found.message


def test_a_family_of_few_keys_is_found_even_with_few_seeds(spoiler: Spoils) -> None:
    def narrow(data: Data) -> None:
        data["parameters"]["e"] |= {"range": [0, 2], "step": 1}
        data["constraints"] = []

    found = only(spoiler.lint("softmax-weights", narrow, seeds=30).errors)
    assert found.message == "the family has too few distinct keys: students would share them"
    assert found.got == "6 distinct keys in 30 variants"


def test_a_family_that_declares_too_few_keys_fails(spoiler: Spoils) -> None:
    def understate(data: Data) -> None:
        data["variants"] = 3

    found = only(spoiler.lint("greedy-path", understate, seeds=12).errors)
    assert found.expected == "at most 3"


def test_a_large_family_needs_no_declaration(spoiler: Spoils) -> None:
    def overstate(data: Data) -> None:
        data["variants"] = 5000

    report = spoiler.lint("softmax-weights", overstate)
    assert report.passed
    assert only(report.warnings).severity is FindingSeverity.WARNING


def test_counting_goes_on_until_there_are_enough_keys(spoiler: Spoils) -> None:
    subject = spoiler.subject("softmax-weights", seeds=200)
    assert list(draws.check(subject)) == []


@pytest.mark.parametrize(("drawn", "size", "finite"), [(30, 6, True), (30, 200, False), (30, 10_000, False)])
def test_repetition_tells_small_families(drawn: int, size: int, finite: bool) -> None:
    keys: Counter[Any] = Counter((7919 * i * i + 31 * i) % size for i in range(drawn))
    assert draws.looks_finite(keys) is finite


def test_the_same_options_with_another_right_one_are_another_question(spoiler: Spoils) -> None:
    variant = spoiler.subject("io-length-claims", seeds=1).variants[0]
    (part,) = variant.parts
    reordered = replace(part, options=part.options[::-1])
    turned = replace(part, options=tuple(replace(o, correct=not o.correct) for o in part.options))
    asked = draws.fingerprint(variant)
    assert draws.fingerprint(replace(variant, parts=(reordered,))) == asked
    assert draws.fingerprint(replace(variant, parts=(turned,))) != asked


def test_the_same_prompts_with_other_targets_are_another_question(spoiler: Spoils) -> None:
    variant = spoiler.subject("seq2seq-roles", seeds=1).variants[0]
    (part,) = variant.parts
    reordered = replace(part, prompts=part.prompts[::-1], key_ids=part.key_ids[::-1])
    turned = replace(part, key_ids=part.key_ids[::-1])
    assert turned.key_ids != part.key_ids
    asked = draws.fingerprint(variant)
    assert draws.fingerprint(replace(variant, parts=(reordered,))) == asked
    assert draws.fingerprint(replace(variant, parts=(turned,))) != asked


# --- answers ----------------------------------------------------------------------------------


def test_a_tolerance_below_the_working_precision_fails(spoiler: Spoils) -> None:
    def strict(data: Data) -> None:
        data["answer"] |= {"tolerance": 0.006, "working_decimals": 2}

    report = spoiler.lint("sdpa-matrix", strict, seeds=10)
    found = next(f for f in report.errors if f.rule == "working")
    assert found.message == "a student who rounds every intermediate to the working precision loses marks"
    assert found.line is not None


@pytest.mark.parametrize("derived", ["'tanh'", "argsort(e)"])
def test_derived_words_and_sequences_need_no_hand_work(spoiler: Spoils, derived: str) -> None:
    def add(data: Data) -> None:
        data["derived"] = {"extra": derived}

    assert spoiler.lint("softmax-weights", add).findings == ()


def with_variant(subject: LintSubject, change: Any) -> LintSubject:
    """Replace the drawn variants by one that is wrong in itself."""
    variant: Variant = change(subject.variants[0])
    subject.__dict__["_draws"] = ((variant,), None)
    subject.__dict__.pop("variants", None)
    return subject


def test_a_key_outside_its_own_interval_is_found(spoiler: Spoils) -> None:
    def shift(variant: Variant) -> Variant:
        (part,) = variant.parts
        assert part.key is not None
        moved = FloatArray(part.key.shape, tuple(x + 0.1 for x in part.key.data))
        return replace(variant, parts=(replace(part, key=moved),))

    subject = with_variant(spoiler.subject("context-vector"), shift)
    messages = [f.message for f in responses.check(subject)]
    assert any("doesn't earn full marks: wrong with 0" in m for m in messages)


def test_an_accepted_printed_option_that_earns_nothing_is_found(spoiler: Spoils) -> None:
    def strict(variant: Variant) -> Variant:
        (part,) = variant.parts
        return replace(variant, parts=(replace(part, settings={**part.settings, "accepted": []}),))

    found = list(responses.check(with_variant(spoiler.subject("l16-ex3-softmax-weights"), strict)))
    # the letter alone answers another option; the numbers aren't read
    assert all(f.message.startswith("erratum F-02 accepts printed option (a), but answering") for f in found)
    assert any("'[0.665" in f.message for f in found)


def test_a_mistake_that_nobody_diagnoses_is_found(spoiler: Spoils, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.answers.asked_precision import EnteredNumbers

    monkeypatch.setattr(EnteredNumbers, "mistakes", lambda self, known: [])
    messages = [f.message for f in responses.check(spoiler.subject("context-vector", seeds=1))]
    assert any(m.startswith("m-uniform, answered as") and m.endswith("(named: nothing)") for m in messages)


def test_marks_for_a_blank_are_found(spoiler: Spoils, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine import grading
    from engine.answers.base import PartResult
    from engine.model import Check, Verdict

    def generous(part: Any) -> PartResult:
        check = Check(part.id, Verdict.PASSED, part.points, part.points)
        return PartResult(part.id, part.points, part.points, "", checks=(check,), is_blank=True)

    monkeypatch.setattr(grading, "blank_result", generous)
    messages = [f.message for f in responses.check(spoiler.subject("context-vector", seeds=1))]
    assert any(m.startswith("a blank answer") for m in messages)


def test_an_answer_that_should_not_be_readable_is_found(
    spoiler: Spoils, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.authoring.lint.rules import responses as trial

    monkeypatch.setattr(trial, "_UNREADABLE", ("1, 2",))
    found = only(list(responses.check(spoiler.subject("context-vector", seeds=1))))
    assert found.message.startswith("'1, 2' can't be read, but it is wrong with 0")


def test_options_that_come_too_close_are_found(spoiler: Spoils) -> None:
    def crowd(variant: Variant) -> Variant:
        (part,) = variant.parts
        first, second, *others = part.options
        assert first.value is not None
        near = FloatArray(first.value.shape, tuple(x + 0.011 for x in first.value.data))
        second = replace(second, value=near)
        return replace(variant, parts=(replace(part, options=(first, second, *others)),))

    subject = with_variant(spoiler.subject("l16-ex1-context-vector"), crowd)
    assert only(list(keys.check(subject))).message.startswith(
        "two options lie within 1 unit of the last place"
    )


def test_a_key_on_a_tie_is_found(spoiler: Spoils) -> None:
    def tie(variant: Variant) -> Variant:
        (part,) = variant.parts
        return replace(variant, parts=(replace(part, key=FloatArray((2,), (0.125, 1.0))),))

    subject = with_variant(spoiler.subject("context-vector"), tie)
    assert any("rounding tie at 2 decimals" in f.message for f in keys.check(subject))


def test_a_text_that_shows_template_syntax_is_found_once(spoiler: Spoils) -> None:
    def leak(variant: Variant) -> Variant:
        return replace(variant, stem=RenderedText("{{ w }}", "<p>{{ w }}</p>", "w"))

    subject = with_variant(spoiler.subject("context-vector"), leak)
    found = list(rendered_text.check(subject))
    assert only(found).message.startswith("stem: the plain text holds '{{'")


# --- sources and prose ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"document": "S0", "file": "lecture.pdf", "section": "2"}, "the file doesn't belong to S0"),
        ({"document": "S0", "section": "2"}, "the file doesn't belong to S0"),
        (
            {"document": "S1", "file": "000_fe1562997ed4e4a6.txt", "section": "2"},
            "the file doesn't belong to S1",
        ),
        ({"document": "S0", "file": "000_fe1562997ed4e4a6.txt"}, "names no place"),
        (
            {"document": "S0", "file": "000_fe1562997ed4e4a6.txt", "equations": ["2"]},
            "S0 has no equation '2'",
        ),
        (
            {"document": "S4", "file": "004_27672af9cede3d64.txt", "equations": ["1"]},
            "S4 has no equation '1'",
        ),
    ],
)
def test_sources_must_exist(spoiler: Spoils, source: Data, message: str) -> None:
    report = spoiler.lint("io-length-claims", lambda data: data.update(source=source), seeds=1)
    assert message in only(report.errors).message


def test_background_without_a_place_is_fine(spoiler: Spoils) -> None:
    report = spoiler.lint(
        "io-length-claims", lambda data: data.update(source={"document": "background"}), seeds=1
    )
    assert report.findings == ()


def test_missing_hints_and_solution_are_warnings(spoiler: Spoils) -> None:
    def bare(data: Data) -> None:
        del data["hints"], data["solution"]

    report = spoiler.lint("io-length-claims", bare, seeds=1)
    assert report.passed
    assert [w.message for w in report.warnings] == ["the item has no hint", "the item has no worked solution"]


# --- whole banks ------------------------------------------------------------------------------


def test_a_file_that_can_not_be_loaded_gives_a_report(spoiler: Spoils) -> None:
    (spoiler.folder / "broken.yaml").write_text("id: broken\ntitle: [\n", encoding="utf-8")
    (spoiler.folder / "partial.yaml").write_text("id: partial\ntitle: A title\n", encoding="utf-8")
    bank = Bank([builtin_root(), spoiler.folder])
    seen: list[str] = []
    reports = lint_bank(
        bank, ["broken", "io-length-claims", "partial"], seeds=1, progress=lambda r: seen.append(r.item)
    )
    assert seen == ["broken", "io-length-claims", "partial"]
    assert [report.passed for report in reports] == [False, True, False]
    assert {f.rule for report in reports for f in report.errors} == {"spec"}
    assert all(f.line for f in reports[0].errors)
    assert len(reports[2].errors) > 1


def test_a_report_is_plain_json(spoiler: Spoils) -> None:
    report = spoiler.lint("l16-ex5-alignment-vector", lambda data: data.update(errata=[], status="ok"))
    data = json.loads(json.dumps(report.as_json()))
    assert data["passed"] is False
    assert data["item"] == "l16-ex5-alignment-vector"
    finding = data["findings"][0]
    assert finding["rule"] == "printed"
    assert finding["severity"] == "error"
    assert isinstance(finding["line"], int)


# --- feedback ---------------------------------------------------------------------------------


def warned(spoiler: Spoils, item: str, change: Any) -> list[str]:
    report = spoiler.lint(item, change, seeds=1)
    assert report.passed
    return [f.message for f in report.warnings if f.rule == "feedback"]


def test_a_silent_wrong_option_is_warned_of(spoiler: Spoils) -> None:
    def silence(data: Data) -> None:
        option = next(o for o in data["answer"]["options"] if not o.get("correct"))
        option.pop("feedback", None)
        option.pop("misconception", None)

    (message,) = warned(spoiler, "io-length-claims", silence)
    assert message.startswith(
        "a wrong option says nothing to whoever chooses it: $T_x$ and $T_y$ differ in each pair of sentences."
    )


def test_silent_pairs_and_orders_are_warned_of(spoiler: Spoils) -> None:
    pairs = warned(spoiler, "seq2seq-roles", lambda data: data["answer"]["prompts"][0].pop("feedback"))
    assert pairs == ["a wrong pair would get no reason: reads the input sequence token by token"]
    order = warned(spoiler, "greedy-trace-order", lambda data: data["answer"].pop("feedback"))
    assert order == ["a wrong order would get no reason"]


def test_numbers_without_known_mistakes_are_warned_of(spoiler: Spoils) -> None:
    assert warned(spoiler, "decoder-state", lambda data: data.pop("misconceptions")) == [
        "no known mistake is given, so a wrong answer can't be explained"
    ]
    assert len(warned(spoiler, "l16-full-pass", lambda data: data["steps"][1].pop("misconceptions"))) == 1


def needs_of(report: LintReport) -> list[str]:
    return [finding.message for finding in report.findings if finding.rule == "needs"]


def test_a_term_that_students_read_and_the_item_does_not_need_is_found(spoiler: Spoils) -> None:
    def without(data: Data) -> None:
        data["needs"] = ["attention", "seq2seq", "alignment-score"]
        data["topics"] = ["weights"]

    (message,) = needs_of(spoiler.lint("softmax-weights", without, strict=True))
    assert message == "the text says 'softmax', which students know only after softmax"
    assert needs_of(spoiler.lint("softmax-weights", without)) == [], "only with --strict"


def test_terms_that_do_not_exist_or_stand_twice_are_errors(spoiler: Spoils) -> None:
    def spoil(data: Data) -> None:
        data["needs"] = ["softmaxx", "attention", "attention"]

    first, second = needs_of(spoiler.lint("softmax-weights", spoil))
    assert first == "no term is called 'softmaxx' in terms.yaml; did you mean 'softmax'?"
    assert second == "the term 'attention' appears here twice"


def test_a_name_with_a_capital_is_not_found_in_a_symbol() -> None:
    term = TaughtTerm(title="slides", words=("S1",))
    assert term.shown_in("the state s1") is None and term.shown_in("see S1, S2") == "S1"
    assert TaughtTerm(title="t", words=("head",)).shown_in("two Heads") == "Heads"
    assert TaughtTerm(title="t", words=("head",)).shown_in("ahead") is None


# --- tolerances -------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"tolerance": 0.003}, {"working_decimals": 3}])
def test_a_tolerance_wider_than_a_unit_of_the_last_place_fails_where_nothing_is_rounded(
    spoiler: Spoils, change: Data
) -> None:
    def wide(data: Data) -> None:
        data["answer"].pop("working_decimals", None)
        data["answer"] |= change

    found = next(f for f in spoiler.lint("softmax-weights", wide, seeds=12).errors if f.rule == "keys")
    assert "units of the last place asked for, and nothing before this step is rounded" in found.message
    assert "tolerance" in (found.next_step or "")


def test_a_step_after_rounded_ones_may_accept_more(spoiler: Spoils) -> None:
    def later(data: Data) -> None:
        step = next(step for step in data["steps"] if step["id"] == "w")
        assert step["answer"]["decimals"] == 2

    subject = spoiler.subject("additive-all-positions", later)
    part = next(part for part in subject.variants[0].parts if part.id == "w")
    widths = [
        float(b) - float(a) for a, b in zip(part.settings["lower"], part.settings["upper"], strict=True)
    ]
    assert max(widths) / 2 > 0.01
    assert list(keys.check(subject)) == []


@pytest.mark.parametrize("item", ["full-attention-pass", "value-transform", "context-missing-weight"])
def test_exact_steps_make_no_room_in_later_ones(spoiler: Spoils, item: str) -> None:
    """Scores, weights and values lie at the places asked for: nobody loses anything on the way."""
    for variant in spoiler.subject(item, seeds=6).variants:
        exact = [part for part in variant.parts if part.key is not None and all(part.settings["exact"])]
        assert exact
        for part in exact:
            for low, high, place in zip(
                *(part.settings[k] for k in ("lower", "upper", "places")), strict=True
            ):
                assert float(high) - float(low) <= 10.0**-place * 1.001
