"""Says in plain words what a YAML parser complains about."""

from __future__ import annotations

import re

import yaml

from engine.spec.text_file import shown, source_line

__all__ = ["explain_syntax"]


def explain_syntax(problem: yaml.YAMLError, text: str) -> tuple[int, int, str]:
    """Return line and column (from 1) and our own sentence for a parser's complaint.

    Parameters
    ----------
    problem : yaml.YAMLError
        As raised by PyYAML's C parser.
    text : str
        The whole file.
    """
    if not isinstance(problem, yaml.MarkedYAMLError):
        return 1, 1, "this isn't YAML text"
    mark = problem.problem_mark or problem.context_mark
    if mark is None:
        return 1, 1, "this isn't YAML"
    line, column = mark.line + 1, mark.column + 1
    runaway = _runaway_quote(text, mark.line)
    if runaway is not None:
        quote, closed = runaway
        message = (
            f"the quotation mark that is opened here is closed only on line {closed}: close it where the "
            "text ends (one inside the text must be doubled, or the other kind)"
        )
        return quote.line + 1, quote.column + 1, message
    bracket = _open_bracket(text) if "expected node content" in (problem.problem or "") else None
    if bracket is not None and not "\n".join(text.split("\n")[mark.line :])[mark.column :].strip():
        kind, start = bracket
        return start.line + 1, start.column + 1, _NOT_CLOSED[kind]
    message = _sentence(problem, source_line(text, line), column)
    opened = problem.context_mark
    if opened is not None and "opened" in message:  # where it starts tells more than where it ends
        line, column = opened.line + 1, opened.column + 1
    return line, column, message


def _runaway_quote(text: str, line: int) -> tuple[yaml.Mark, int] | None:
    """Return where a quotation mark opens whose text ends lines below, at the fault, and on which line.

    A mark that isn't closed takes all up to the next one, so that the parser stumbles where all is well.

    Parameters
    ----------
    text : str
        The whole file.
    line : int
        Where the parser stumbled, from 0.
    """
    last = None
    try:
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"'):
                last = token
    except yaml.YAMLError:
        pass
    if last is None or not last.start_mark.line < last.end_mark.line == line:
        return None
    return last.start_mark, last.end_mark.line + 1


def _open_bracket(text: str) -> tuple[str, yaml.Mark] | None:
    """Return the innermost bracket that the text leaves open, ``[`` or ``{``, and where it stands."""
    opened: list[tuple[str, yaml.Mark]] = []
    try:
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken):
                kind = "[" if isinstance(token, yaml.FlowSequenceStartToken) else "{"
                opened.append((kind, token.start_mark))
            elif isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken) and opened:
                opened.pop()
    except yaml.YAMLError:
        pass
    return opened[-1] if opened else None


_NOT_CLOSED = {
    "[": "a list that was opened with '[' isn't closed, or lacks a comma",
    "{": "a mapping that was opened with '{' isn't closed, or lacks a comma",
}


def _sentence(problem: yaml.MarkedYAMLError, line: str, column: int) -> str:
    complaint, context = problem.problem or "", problem.context or ""
    here = line[column - 1 : column]
    if "tab character" in complaint or ("\t" in line[:column] and not line[: column - 1].strip()):
        return "a tab can't be used for indentation; use blanks"
    if "cannot start any token" in complaint:
        return f"a value can't start with '{shown(here)}'; put it in quotes"
    if "mapping values are not allowed" in complaint:
        return _about_colon(line, column)
    if here in ("[", "{") and re.search(r"expected ',' or '[\]}]'", complaint):
        return f"inside {{ }} and [ ] a text with '{here}' must be in quotes; put it in quotes"
    if "quoted scalar" in context:
        return _about_quotes(complaint, line[column - 1 : column + 1])
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, complaint) or re.search(pattern, context):
            return sentence
    return f"this isn't YAML: {shown(complaint, 100)}"


def _about_colon(line: str, column: int) -> str:
    if ":" in line[: column - 1]:
        return "a second ': ' stands on this line; put the text in quotes"
    return "a ': ' isn't possible here; check the indentation and the line above"


def _about_quotes(complaint: str, here: str) -> str:
    if "end of stream" in complaint or "document indicator" in complaint:
        return "a quotation mark was opened and never closed"
    if "escape" in complaint:
        return f"in double quotes '{shown(here)}' has no meaning; use single quotes, or | and a new line"
    return "something is wrong in this quoted text"


_SENTENCES = (
    (r"nesting depth", "this is nested more than 64 levels deep"),
    (r"could not find expected ':'", "a key without its ': '"),
    (r"expected ',' or '\]'", _NOT_CLOSED["["]),
    (r"expected ',' or '\}'", _NOT_CLOSED["{"]),
    (
        r"expected '-' indicator",
        "this line stands where a '- ' of the list above was expected; check the indentation",
    ),
    (
        r"expected key",
        "this doesn't continue the lines above; check the indentation, and quotes that end early",
    ),
    (r"expected node content", "a value was expected here; put it in quotes if it is text"),
    (r"block sequence entries", "a '- ' isn't possible here; start the list on a new line"),
    (r"block scalar", "after | or > the line must end; the text starts on the next line"),
    (r"directive|%", "lines that start with % can't be used"),
    (r"anchor|alias", "'&' and '*' at the start of a value have a meaning in YAML; put the text in quotes"),
    (r"tag", "'!' at the start of a value has a meaning in YAML; put the text in quotes"),
    (r"document start", "text stands after the end of the document; check the indentation"),
)
