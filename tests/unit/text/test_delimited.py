"""Rows of text: every line of any file is in a row, in a fault or empty, whatever the bytes are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IntakeError
from engine.text.tables import DelimitedTable, read_delimited


def read(data: bytes | str) -> DelimitedTable:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
        return read_delimited(path, noun="the table", error=IntakeError, file="t.csv")


def cells(text: str) -> list[tuple[str, ...]]:
    found = read(text)
    assert found.faults == ()
    return [row.cells for row in found.rows]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('"=""007"""', "007"),
        ('="[0.1, 0.9]"', None),  # a comma outside quotes parts it
        ("'-1.5", "-1.5"),
        ("'=1+1", "=1+1"),
        ("'tis", "'tis"),
        ("\u00a0 x \t", "x"),
        ("\ufeff\u200bada\u200e", "ada"),
        ("Zoe\u0308", "Zo\u00eb"),
        ('"a\nb"', "a\nb"),
    ],
)
def test_cells(cell: str, text: str | None) -> None:
    rows = cells(f"a\n{cell}\n") if text is not None else [("",)]
    assert rows[-1] == ((text or ""),)


def test_the_lines_of_rows_are_those_of_the_file() -> None:
    found = read('a,b\r\n\r\n1,"x\r\ny"\r\n2,z\r\n')
    assert [(row.line, row.cells) for row in found.rows] == [
        (1, ("a", "b")),
        (3, ("1", "x\r\ny")),
        (5, ("2", "z")),
    ]
    assert found.rows[1].source == '1,"x'


def test_commas_in_quoted_heads_are_no_separators() -> None:
    assert cells('id;"Give a, b, c, and d";e\n1;2;3\n')[1] == ("1", "2", "3")


def test_a_line_that_is_no_csv_costs_itself() -> None:
    found = read('a,b\n1,"x" y\n2,z\n3,"open\n4,w\n')
    assert [row.cells for row in found.rows] == [("a", "b"), ("2", "z"), ("4", "w")]
    assert [(fault.line, fault.source_line) for fault in found.faults] == [(2, '1,"x" y'), (4, '3,"open')]


def test_a_cell_that_is_too_long_costs_itself() -> None:
    found = read("a\n" + "x" * 200_000 + "\nb\n")
    assert [row.cells for row in found.rows] == [("a",), ("b",)]
    assert [fault.line for fault in found.faults] == [2] and "limit" in found.faults[0].message


def test_after_a_hundred_faults_the_rest_is_one_and_it_says_so() -> None:
    found = read("a\n" + '"x" y\n' * 150)
    assert len(found.faults) == 100 and found.faults[-1].line == 101
    assert "nothing is read from here on" in found.faults[-1].message


def test_quotation_marks_that_never_close_cost_a_bounded_look() -> None:
    # Every line ends inside quotes, whether it began there or not: read to the end each time, this would
    # take hours.
    found = read('x","\n' * 300_000)
    assert found.rows == () and len(found.faults) == 100


def test_a_nul_character_costs_its_line() -> None:
    found = read("id,1\nada,b\nbo\0b,1\neve,c\n")
    assert [row.cells[0] for row in found.rows] == ["id", "ada", "eve"]
    assert [(fault.line, "NUL" in fault.message) for fault in found.faults] == [(3, True)]


@pytest.mark.parametrize("data", [b"\x81\x8d", b"a\0b", b"\xff\xfea\xd8", b"PK\x03\x04\0\0"])
def test_no_text(data: bytes) -> None:
    with pytest.raises(IntakeError, match="the table isn't a text file"):
        read(data)


TEXTS = st.text(st.sampled_from("ab1,;\t\"'=\n\r \u00e9\ufeff\u2028\x0b"), max_size=200)


@given(st.one_of(TEXTS.map(lambda text: text.encode("utf-8")), TEXTS.map(lambda t: t.encode("utf-16"))))
def test_every_line_is_accounted_for(data: bytes) -> None:
    found = read(data)
    text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    # an own count of lines: \n, \r\n and \r end them
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts = sorted([row.line for row in found.rows] + [fault.line for fault in found.faults])
    assert len(starts) == len(set(starts)) and all(1 <= start <= len(lines) for start in starts)
    told = {row.line: "".join(row.cells) for row in found.rows}
    first = next((at for at, line in enumerate(lines, start=1) if line.strip()), 0)
    for number, line in enumerate(lines, start=1):
        kept = [c for c in line if c.isalnum()]
        before = max((start for start in starts if start <= number), default=None)
        if not kept or (number == first and line.strip().strip('"').startswith("sep=")):
            continue
        assert before is not None, (number, line)
        if before in told:
            assert all(c in told[before] for c in kept)


@given(st.binary(max_size=300))
def test_any_bytes_are_rows_or_one_clear_error(data: bytes) -> None:
    try:
        found = read(data)
    except IntakeError as error:
        assert "isn't a text file" in error.what and error.where == "t.csv"
    else:
        assert all(any(row.cells) for row in found.rows)
