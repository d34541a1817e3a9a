"""QTI 1.2 as Canvas takes it: a quiz with a question group for each item, of which each student gets one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.export.canvas_losses import question_losses
from engine.export.canvas_questions import QuestionWriter
from engine.export.exported_item import ExportedFamily, ExportedQuiz, ExportLoss
from engine.export.formats import QuizFormat
from engine.export.prose_html import xml_value
from engine.text.files import zip_bytes

_XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
_QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
_PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_METADATA = "http://www.imsglobal.org/xsd/imsmd_v1p2"
_CANVAS = "http://canvas.instructure.com/xsd/cccv1p0"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def losses(family: ExportedFamily) -> Sequence[ExportLoss]:
    """Return what Canvas can't carry of a family."""
    return list(question_losses(family))


def write(quiz: ExportedQuiz, done: Callable[[], None]) -> bytes:
    """Return the package as a ``.zip``.

    Parameters
    ----------
    quiz : ExportedQuiz
    done : callable
        Called once for each variant.
    """
    writer = QuestionWriter()
    groups = []
    for family in quiz.families:
        questions = []
        for item in family.items:
            questions.append(writer.question(item))
            done()
        groups.append(_group(family, questions))
    assessment, pictures = f"{quiz.name}-assessment", writer.pictures.files
    files = {
        "imsmanifest.xml": _manifest(quiz, assessment, list(pictures)).encode(),
        f"{assessment}/assessment_meta.xml": _settings(quiz, assessment).encode(),
        f"{assessment}/{assessment}.xml": _assessment(quiz, assessment, groups).encode(),
        **pictures,
    }
    return zip_bytes(files)


def _group(family: ExportedFamily, questions: Sequence[str]) -> str:
    """Return the section of a family; its title names the topic, as Canvas keeps no tags."""
    title = " - ".join([*family.category, family.title])
    return (
        f'<section ident="{family.item}-group" title="{xml_value(title)}">\n<selection_ordering><selection>'
        "<selection_number>1</selection_number><selection_extension>"
        f"<points_per_item>{family.points:g}</points_per_item></selection_extension></selection>"
        f"</selection_ordering>\n{''.join(questions)}</section>\n"
    )


def _assessment(quiz: ExportedQuiz, ident: str, groups: Sequence[str]) -> str:
    return (
        f'{_DECLARATION}<questestinterop xmlns="{_QTI}" {_XSI} '
        f'xsi:schemaLocation="{_QTI} http://www.imsglobal.org/xsd/ims_qtiasiv1p2p1.xsd">\n'
        f'<assessment ident="{ident}" title="{xml_value(quiz.title)}">\n<qtimetadata><qtimetadatafield>'
        "<fieldlabel>cc_maxattempts</fieldlabel><fieldentry>1</fieldentry></qtimetadatafield></qtimetadata>\n"
        f'<section ident="root_section">\n{"".join(groups)}</section>\n</assessment>\n</questestinterop>\n'
    )


def _settings(quiz: ExportedQuiz, ident: str) -> str:
    """Return ``assessment_meta.xml``: the quiz as it arrives, unpublished and without dates."""
    # Of each group one question counts, so that a quiz with twenty variants isn't worth twenty times as much.
    points = sum(family.points for family in quiz.families)
    title = f"<title>{xml_value(quiz.title)}</title>"
    return (
        f'{_DECLARATION}<quiz identifier="{ident}" xmlns="{_CANVAS}" {_XSI} '
        f'xsi:schemaLocation="{_CANVAS} https://canvas.instructure.com/xsd/cccv1p0.xsd">\n'
        f"{title}\n<description/>\n<shuffle_answers>false</shuffle_answers>\n"
        "<scoring_policy>keep_highest</scoring_policy>\n<hide_results/>\n<quiz_type>assignment</quiz_type>\n"
        f"<points_possible>{points:g}</points_possible>\n<show_correct_answers>true</show_correct_answers>\n"
        "<allowed_attempts>1</allowed_attempts>\n<one_question_at_a_time>false</one_question_at_a_time>\n"
        "<cant_go_back>false</cant_go_back>\n<available>false</available>\n"
        f'<assignment identifier="{quiz.name}-assignment">{title}<workflow_state>unpublished</workflow_state>'
        f"<quiz_identifierref>{ident}</quiz_identifierref><points_possible>{points:g}</points_possible>"
        "<grading_type>points</grading_type><submission_types>online_quiz</submission_types></assignment>\n"
        f"<assignment_group_identifierref>{quiz.name}-assignments</assignment_group_identifierref>\n</quiz>\n"
    )


def _manifest(quiz: ExportedQuiz, assessment: str, pictures: Sequence[str]) -> str:
    settings = f"{assessment}/assessment_meta.xml"
    resources = [
        f'<resource identifier="{assessment}" type="imsqti_xmlv1p2">'
        f'<file href="{assessment}/{assessment}.xml"/><dependency identifierref="{quiz.name}-settings"/>'
        "</resource>",
        f'<resource identifier="{quiz.name}-settings" '
        'type="associatedcontent/imscc_xmlv1p1/learning-application-resource" '
        f'href="{settings}"><file href="{settings}"/></resource>',
        *(
            f'<resource identifier="picture-{number}" type="webcontent" href="{path}">'
            f'<file href="{path}"/></resource>'
            for number, path in enumerate(pictures, start=1)
        ),
    ]
    resource_rows = "\n".join(resources)
    return (
        f'{_DECLARATION}<manifest identifier="{quiz.name}-manifest" xmlns="{_PACKAGE}" '
        f'xmlns:imsmd="{_METADATA}" {_XSI} '
        f'xsi:schemaLocation="{_PACKAGE} http://www.imsglobal.org/xsd/imscp_v1p1.xsd '
        f'{_METADATA} http://www.imsglobal.org/xsd/imsmd_v1p2p2.xsd">\n'
        "<metadata><schema>IMS Content</schema><schemaversion>1.1.3</schemaversion><imsmd:lom><imsmd:general>"
        f"<imsmd:title><imsmd:string>{xml_value(quiz.title)}</imsmd:string></imsmd:title>"
        "</imsmd:general></imsmd:lom></metadata>\n<organizations/>\n"
        f"<resources>\n{resource_rows}\n</resources>\n</manifest>\n"
    )


FORMAT = QuizFormat("canvas", "QTI 1.2 for Canvas", ".zip", losses, write)
