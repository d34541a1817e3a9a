"""What an answer field adds to its item, and the declarations of its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.export.qti.processing import number_text, points_value, set_value
from engine.export.qti.xml_pieces import element, escaped


@dataclass(frozen=True, slots=True)
class FieldNames:
    """The variables of one field: plain for an item with one field, numbered where it has several.

    Parameters
    ----------
    suffix : str
        Behind each name, such as ``_2``.
    """

    suffix: str = ""

    @property
    def response(self) -> str:
        """The response variable."""
        return f"RESPONSE{self.suffix}"

    @property
    def score(self) -> str:
        """The outcome that gets the field's points."""
        return f"SCORE{self.suffix}"

    def outcome(self, word: str) -> str:
        """Return the name of another variable of the field, or the identifier of one of its feedbacks."""
        return f"{word}{self.suffix}"

    def full(self, points: float) -> str:
        """Return the rule that gives full marks."""
        return set_value(self.score, points_value(points))

    def mapped(self) -> str:
        """Return what the declared mapping gives for the response."""
        return element("qti-map-response", identifier=self.response)


@dataclass(frozen=True, slots=True)
class FieldXml:
    """What a field adds to its item.

    Parameters
    ----------
    responses, outcomes : tuple of str
        Declarations.
    body : str
        The interactions.
    rules : str
        They set the field's score, and add to the feedback.
    feedback : tuple of (str, str)
        Identifiers with what is shown.
    interaction : str
        In the vocabulary of the metadata.
    """

    responses: tuple[str, ...]
    outcomes: tuple[str, ...]
    body: str
    rules: str
    feedback: tuple[tuple[str, str], ...]
    interaction: str


def response_declaration(
    name: str,
    kind: str,
    correct: Sequence[str],
    *,
    cardinality: str = "single",
    mapping: str = "",
) -> str:
    """Return the declaration of a response with its right value."""
    key = element("qti-correct-response", *[element("qti-value", escaped(value)) for value in correct])
    return element(
        "qti-response-declaration",
        key if correct else "",
        mapping,
        identifier=name,
        cardinality=cardinality,
        base_type=kind,
    )


def outcome_declaration(
    name: str, kind: str, default: str | None = "0", *, external: bool = False, most: float | None = None
) -> str:
    """Return the declaration of an outcome with a single value.

    Parameters
    ----------
    name, kind : str
    default : str or None
        Its value before anything is processed.
    external : bool
        Whether a person gives it.
    most : float, optional
        The most that it can be.
    """
    value = "" if default is None else element("qti-default-value", element("qti-value", escaped(default)))
    return element(
        "qti-outcome-declaration",
        value,
        identifier=name,
        cardinality="single",
        base_type=kind,
        normal_maximum=None if most is None else number_text(most),
        external_scored="human" if external else None,
    )


def mapping_of(
    entries: Mapping[str, float], *, lower: float | None = None, case_sensitive: bool = True
) -> str:
    """Return the points of each value of a response; what isn't among them has none.

    Parameters
    ----------
    entries : mapping of str to float
    lower : float, optional
        The least that a sum counts.
    case_sensitive : bool
    """
    return element(
        "qti-mapping",
        *[
            element(
                "qti-map-entry",
                map_key=key,
                mapped_value=number_text(value),
                case_sensitive=None if case_sensitive else False,
            )
            for key, value in entries.items()
        ],
        default_value=0,
        lower_bound=None if lower is None else number_text(lower),
    )


def prompt_of(text: str) -> str:
    """Return what an interaction asks for, above it."""
    return element("qti-prompt", escaped(text)) if text else ""


def sentence(text: str) -> str:
    """Return plain text as a paragraph; none for no text."""
    return element("p", escaped(text)) if text else ""
