"""Marks responses with Open edX's own problem block, in the environment of ``make clients``.

Each line of the input is a JSON object with ``olx``, the text of a problem file, and ``responses``, a list
of lists with a value for each field in the order of the page: text for a line of text, the number of an
option (a list of them for check boxes), the shown text of a dropdown's option, None for a field that was
left alone.  Each line of the output is a JSON object with ``problem`` (what the page shows) and ``results``,
or with ``refused``, what the block raises when it reads the problem.

The block runs in XBlock's test runtime, gets each response as its page would post it, and keeps the state of
one student each, so that no response sees another.  Python in problems isn't run: there is no sandbox here.
"""

from __future__ import annotations

import gettext
import json
import sys
from typing import Any, ClassVar

import django
from lxml import etree
from opaque_keys.edx.locator import BlockUsageLocator, CourseLocator
from webob.multidict import MultiDict
from xblock.fields import ScopeIds
from xblock.runtime import DictKeyValueStore, KvsFieldData
from xblock.test.tools import TestRuntime
from xblocks_contrib.problem.capa_block import ProblemBlock

_COURSE = CourseLocator("softmark", "exports", "tests")
_FIELDS = ("textline", "formulaequationinput", "choicegroup", "checkboxgroup", "optioninput", "textbox")


class _User:
    opt_attrs: ClassVar[dict[str, Any]] = {
        "edx-platform.user_id": 1,
        "edx-platform.deprecated_anonymous_user_id": "student",
        "edx-platform.user_is_staff": False,
    }

    def get_current_user(self) -> _User:
        return self


class _NoSandbox:
    def can_execute_unsafe_code(self) -> bool:
        return False

    def get_python_lib_zip(self) -> None:
        return None


class _SameUrls:
    def replace_urls(self, text: str) -> str:
        return text


class _NoFiles:
    root_path = "/nonexistent"


class _Runtime(TestRuntime):
    resources_fs = _NoFiles()

    def __init__(self) -> None:
        super().__init__(
            services={
                "field-data": KvsFieldData(DictKeyValueStore()),
                "user": _User(),
                "sandbox": _NoSandbox(),
                "cache": object(),
                "xqueue": object(),
                "replace_urls": _SameUrls(),
                "i18n": gettext.NullTranslations(),
            }
        )

    def handler_url(self, *_: Any, **__: Any) -> str:
        return "/handler"

    def local_resource_url(self, *_: Any, **__: Any) -> str:
        return "/resource"

    def publish(self, *_: Any) -> None:
        return None

    def get_policy(self, _: Any) -> dict[str, Any]:
        return {}


def _block(olx: str, runtime: _Runtime) -> ProblemBlock:
    place = BlockUsageLocator(_COURSE, "problem", "tried")
    return ProblemBlock.parse_xml(
        etree.fromstring(olx.encode()), runtime, ScopeIds("student", "problem", place, place)
    )


def _fields(block: ProblemBlock) -> list[Any]:
    return [node for node in block.lcp.tree.iter() if node.tag in _FIELDS]


def _posted(node: Any, value: Any) -> list[tuple[str, str]]:
    """Return what a form sends for one field."""
    name, tag = "input_" + node.get("id"), node.tag
    if tag == "optioninput":
        return [(name, f"option_{node.get('id')}_dummy_default" if value is None else value)]
    if tag == "choicegroup":
        return [] if value is None else [(name, _choice(node, value))]
    if tag == "checkboxgroup":
        return [(name + "[]", _choice(node, number)) for number in value or ()]
    return [(name, value or "")]


def _choice(node: Any, number: int) -> str:
    return node.findall("choice")[number].get("name")


def _mark(olx: str, values: list[Any]) -> dict[str, Any]:
    block = _block(olx, _Runtime())
    fields = _fields(block)
    if len(fields) != len(values):
        raise ValueError(f"{len(values)} values for {len(fields)} fields")
    posted = [pair for node, value in zip(fields, values, strict=True) for pair in _posted(node, value)]
    # The page that shows the result isn't looked at: drawing it takes longer than marking.
    block.get_problem_html = lambda *_, **__: ""
    answer = json.loads(block.handle_ajax("problem_check", MultiDict(posted)))
    if "contents" not in answer:  # the page shows this text in the place of a result, and no attempt is used
        return {"message": answer["success"], "attempts": block.attempts}
    earned, possible = block.get_display_progress()
    return {
        "earned": earned,
        "possible": possible,
        "share": block.score.raw_earned / block.score.raw_possible,
        "attempts": block.attempts,
        "fields": [block.lcp.correct_map.get_correctness(node.get("id")) for node in fields],
        "feedback": [block.lcp.correct_map.get_msg(node.get("id")) for node in fields],
    }


def _page(olx: str) -> dict[str, Any]:
    block = _block(olx, _Runtime())
    fields = [
        {"tag": node.tag, "points": int(node.get("points", "1")), "options": _options(block, node)}
        for node in _fields(block)
    ]
    hints = block.lcp.tree.xpath("//problem/demandhint/hint")
    return {
        "title": block.display_name,
        "weight": block.weight,
        "tags": list(block.tags),
        "fields": fields,
        "html": block.get_problem_html(encapsulate=False),
        "hints": block.get_demand_hint(len(hints) - 1)["msg"] if hints else "",
        "answers": {key: str(value) for key, value in block.lcp.get_question_answers().items()},
    }


def _options(block: ProblemBlock, node: Any) -> list[str]:
    if node.tag == "optioninput":
        # Rendering makes the input: only there are the options cut apart.
        block.lcp.get_html()
        return [text for _, text in block.lcp.inputs[node.get("id")].loaded_attributes["options"]]
    return [" ".join("".join(choice.itertext()).split()) for choice in node.findall("choice")]


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        page = _page(request["olx"])
        results = [_mark(request["olx"], values) for values in request["responses"]]
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    return {"problem": page, "results": results}


def _serve() -> None:
    django.setup()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
