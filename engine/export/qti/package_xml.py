"""The package around the items: manifest with metadata, and a test that draws among the variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine import __version__
from engine.export.qti.processing import SCORE, set_value
from engine.export.qti.xml_pieces import QTI_NAMESPACE, element, list_of, metadata_text

ITEM_FOLDER = "items"
MANIFEST = "imsmanifest.xml"
TEST = "test.xml"
_TOOL = "Softmark"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMAS = "https://purl.imsglobal.org/spec/qti/v3p0/schema/xsd"
_PACKAGING = "http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1"
_METADATA = "http://www.imsglobal.org/xsd/imsqti_metadata_v3p0"
_LOM = "http://ltsc.ieee.org/xsd/LOM"


@dataclass(frozen=True, slots=True)
class ItemFile:
    """One item of the package, as the manifest and the test speak of it.

    Parameters
    ----------
    identifier, title : str
    interactions : tuple of str
        Names in the vocabulary of the metadata, such as ``choiceInteraction``.
    topics, tags : tuple of str
    pictures : tuple of str
        Addresses beside the item.
    is_composite : bool
        Whether it has several fields.
    """

    identifier: str
    title: str
    interactions: tuple[str, ...]
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    is_composite: bool = False

    @property
    def address(self) -> str:
        """Where it lies in the package."""
        return f"{ITEM_FOLDER}/{self.identifier}.xml"


@dataclass(frozen=True, slots=True)
class VariantBank:
    """Items of which each candidate gets one: the variants of one exercise."""

    identifier: str
    title: str
    items: tuple[ItemFile, ...]


@dataclass(frozen=True, slots=True)
class PackageSection:
    """A section of the test: its banks in their order."""

    identifier: str
    title: str
    banks: tuple[VariantBank, ...] = field(default=())


def document(root: str) -> str:
    """Return an XML file."""
    return f"{_DECLARATION}{root}\n"


def item_document(identifier: str, title: str, *content: str) -> str:
    """Return the file of an item."""
    return document(
        element(
            "qti-assessment-item",
            "\n",
            list_of(content),
            **{
                "xmlns": QTI_NAMESPACE,
                "xmlns:xsi": _XSI,
                "xsi:schemaLocation": f"{QTI_NAMESPACE} {_SCHEMAS}/imsqti_asiv3p0_v1p0.xsd",
            },
            identifier=identifier,
            title=title,
            adaptive=False,
            time_dependent=False,
            tool_name=_TOOL,
            tool_version=__version__,
            **{"xml:lang": "en"},
        )
    )


def _reference(item: ItemFile) -> str:
    return element(
        "qti-assessment-item-ref",
        identifier=item.identifier,
        href=item.address,
        category=" ".join(item.topics) or None,
    )


def _bank(bank: VariantBank) -> str:
    references = [_reference(item) for item in bank.items]
    if len(references) == 1:
        return references[0]
    return element(
        "qti-assessment-section",
        "\n",
        list_of([element("qti-selection", select=1), element("qti-ordering", shuffle=True), *references]),
        identifier=bank.identifier,
        title=bank.title,
        visible=False,
        keep_together=False,
    )


def assessment_document(identifier: str, title: str, sections: Sequence[PackageSection]) -> str:
    """Return the test: one section for each of a blueprint, in which each bank gives one of its variants.

    Every attempt is processed at once and its feedback shown; how often somebody may try is for the system
    that delivers the test.
    """
    written = [
        element(
            "qti-assessment-section",
            "\n",
            list_of([_bank(bank) for bank in section.banks]),
            identifier=section.identifier,
            title=section.title,
            visible=True,
        )
        for section in sections
    ]
    total = element("qti-sum", element("qti-test-variables", variable_identifier=SCORE))
    return document(
        element(
            "qti-assessment-test",
            "\n",
            list_of(
                [
                    element(
                        "qti-outcome-declaration", identifier=SCORE, cardinality="single", base_type="float"
                    ),
                    element(
                        "qti-test-part",
                        "\n",
                        list_of([element("qti-item-session-control", show_feedback=True), *written]),
                        identifier="part",
                        navigation_mode="nonlinear",
                        submission_mode="individual",
                    ),
                    element("qti-outcome-processing", set_value(SCORE, total)),
                ]
            ),
            **{
                "xmlns": QTI_NAMESPACE,
                "xmlns:xsi": _XSI,
                "xsi:schemaLocation": f"{QTI_NAMESPACE} {_SCHEMAS}/imsqti_asiv3p0_v1p0.xsd",
            },
            identifier=identifier,
            title=title,
            tool_name=_TOOL,
            tool_version=__version__,
        )
    )


def _item_metadata(item: ItemFile) -> str:
    def words(name: str, text: str) -> str:
        return element(name, element("string", metadata_text(text), language="en"))

    def taxon(topic: str) -> str:
        entry = element("taxon", element("id", metadata_text(topic)), words("entry", topic))
        return element("taxonPath", words("source", "topics"), entry)

    general = element("general", words("title", item.title), *[words("keyword", tag) for tag in item.tags])
    classification = [
        element(
            "classification",
            element("purpose", element("source", "LOMv1.0"), element("value", "discipline")),
            *[taxon(topic) for topic in item.topics],
        )
    ]
    qti = [
        element("imsqti:itemTemplate", "false"),
        element("imsqti:timeDependent", "false"),
        element("imsqti:composite", "true" if item.is_composite else "false"),
        *[element("imsqti:interactionType", name) for name in item.interactions],
        element("imsqti:feedbackType", "nonadaptive"),
        element("imsqti:solutionAvailable", "true"),
        element("imsqti:toolName", _TOOL),
        element("imsqti:toolVersion", __version__),
    ]
    return element(
        "metadata",
        element("lom", general, *(classification if item.topics else ()), xmlns=_LOM),
        element("imsqti:qtiMetadata", *qti),
    )


def manifest_document(
    identifier: str, items: Sequence[ItemFile], pictures: Sequence[str], has_test: bool
) -> str:
    """Return the manifest of a package.

    Parameters
    ----------
    identifier : str
    items : sequence of ItemFile
    pictures : sequence of str
        Addresses beside the items.
    has_test : bool
    """
    names = {address: f"picture-{number}" for number, address in enumerate(pictures, start=1)}
    resources = [
        element(
            "resource",
            _item_metadata(item),
            element("file", href=item.address),
            *[element("dependency", identifierref=names[address]) for address in item.pictures],
            identifier=item.identifier,
            type="imsqti_item_xmlv3p0",
            href=item.address,
        )
        for item in items
    ]
    resources += [
        element(
            "resource",
            element("file", href=f"{ITEM_FOLDER}/{address}"),
            identifier=name,
            type="webcontent",
            href=f"{ITEM_FOLDER}/{address}",
        )
        for address, name in names.items()
    ]
    if has_test:
        resources.insert(
            0,
            element(
                "resource",
                element("file", href=TEST),
                *[element("dependency", identifierref=item.identifier) for item in items],
                identifier=f"{identifier}-test",
                type="imsqti_test_xmlv3p0",
                href=TEST,
            ),
        )
    schema = element("schema", "QTI Package") + element("schemaversion", "3.0.0")
    return document(
        element(
            "manifest",
            "\n",
            list_of(
                [
                    element("metadata", schema),
                    element("organizations"),
                    element("resources", "\n", list_of(resources)),
                ]
            ),
            **{
                "xmlns": _PACKAGING,
                "xmlns:imsqti": _METADATA,
                "xmlns:xsi": _XSI,
                "xsi:schemaLocation": (
                    f"{_PACKAGING} {_SCHEMAS}/imsqtiv3p0_imscpv1p2_v1p0.xsd "
                    f"{_METADATA} {_SCHEMAS}/imsqti_metadatav3p0_v1p0.xsd"
                ),
            },
            identifier=identifier,
        )
    )
