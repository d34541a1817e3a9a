"""Archives inside archives, tar archives, bombs: what is unpacked, and what is told of the rest."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IntakeError
from engine.intake.download_entries import FoundEntries
from engine.intake.unpack import ArchiveLimits, read_source

CODE = b"def softmax(x):\n    return x\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def zipped(files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as made:
        for name, content in files.items():
            made.writestr(zipfile.ZipInfo(name), content, how)
    return data.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w", form: int = tarfile.PAX_FORMAT) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode, format=form) as made:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return data.getvalue()


def read(path: Path, work: Path, data: bytes, **limits: int) -> FoundEntries:
    path.write_bytes(data)
    return read_source(path, work, ArchiveLimits(**limits))


def contents(entries: FoundEntries) -> dict[str, bytes | None]:
    return {entry.name: entry.path and entry.path.read_bytes() for entry in entries.files}


def why(entries: FoundEntries) -> dict[str, str]:
    return {problem.where: problem.message for problem in entries.problems}


# --- kinds ---

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
NAMES = {
    "ada/softmax.py": CODE,
    "Gödel/" + "deep/" * 25 + "softmax.py": CODE + b"# 2\n",
    "bob/" + "x" * 90 + ".py": b"",
}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["in.tar", "in.tar.gz", "in.tgz", "wrong.zip"])
def test_a_tar_archive_is_read_whatever_it_is_called(
    tmp_path: Path, work: Path, mode: str, form: int, name: str
) -> None:
    entries = read(tmp_path / name, work, tarred(NAMES, mode, form))
    assert contents(entries) == NAMES
    assert not entries.problems
    assert all(entry.path and entry.path.parent == work for entry in entries.files)
    assert len(list(work.iterdir())) == 3, "nothing but the files is left there"


def test_what_else_a_tar_archive_may_hold(tmp_path: Path, work: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as made:
        for name, kind in {
            "ada/hard.py": tarfile.LNKTYPE,
            "ada/soft.py": tarfile.SYMTYPE,
            "ada/zero.py": tarfile.CHRTYPE,
            "ada/disk.py": tarfile.BLKTYPE,
            "ada/pipe.py": tarfile.FIFOTYPE,
            "eve": tarfile.DIRTYPE,
        }.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            made.addfile(info)
        for name in ("/etc/softmax.py", "../softmax.py", "ada/softmax.py"):
            info = tarfile.TarInfo(name)
            info.size = len(CODE)
            made.addfile(info, io.BytesIO(CODE))
    entries = read(tmp_path / "in.tar", work, data.getvalue())
    assert contents(entries) == {"ada/softmax.py": CODE}
    assert entries.folders == {("eve",)}
    assert why(entries) == {
        "ada/hard.py": "this entry is a link; it was not unpacked",
        "ada/soft.py": "this entry is a link; it was not unpacked",
        "ada/zero.py": "this entry is a device; it was not unpacked",
        "ada/disk.py": "this entry is a device; it was not unpacked",
        "ada/pipe.py": "this entry isn't a regular file; it was not unpacked",
        "/etc/softmax.py": "this entry has an absolute path as its name; it was not unpacked",
        "../softmax.py": "this entry has a name that leads out of the archive; it was not unpacked",
    }


def header(name: str, size: int, kind: bytes = b"0", goes_on: bool = False) -> bytes:
    """Return a GNU tar header, made by hand."""
    head = bytearray(512)
    head[: len(name)] = name.encode()
    head[124:136] = b"%011o\0" % size
    head[156:157] = kind
    head[257:265] = b"ustar  \0"
    head[482] = goes_on
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 512)


def test_sparse_files_are_told_and_what_follows_is_read(tmp_path: Path, work: Path) -> None:
    more_map = bytearray(512)
    old = header("ada/a.py", 512, b"S", goes_on=True) + bytes(more_map) + b"x" * 512
    record = b"22 GNU.sparse.major=1\n"
    pax = header("ada/b.py", len(record), b"x") + padded(record) + header("ada/b.py", 5) + padded(b"12345")
    last = header("ada/softmax.py", len(CODE)) + padded(CODE)
    entries = read(tmp_path / "in.tar", work, old + pax + last + bytes(1024))
    assert contents(entries) == {"ada/softmax.py": CODE}
    assert why(entries) == dict.fromkeys(
        ("ada/a.py", "ada/b.py"), "this entry is a sparse file; it was not unpacked"
    )


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (header("a.py", 4096) + b"x" * 512, "ends too early"),
        (header("a.py", 3) + padded(b"abc") + b"x" * 512, "no header at byte 1024"),
        (header("x", 2**17, b"L") + b"a" * 2**17, "a header that is too long"),
        (
            header("x", 12, b"x") + padded(b"99 path=a.py") + header("a", 0),
            "a long header that can't be read",
        ),
        (header("x", 12, b"x") + padded(b"1" * 512) + header("a", 0), "a long header that can't be read"),
        (header("x", 11, b"x") + padded(b"11 size=-5\n") + header("a", 0), "a size that is negative"),
        (header("x", 11, b"x") + padded(b"11 size=ab\n") + header("a", 0), "a size that isn't a number"),
    ],
)
def test_a_damaged_tar_archive_is_refused(tmp_path: Path, work: Path, data: bytes, what: str) -> None:
    with pytest.raises(IntakeError, match="the archive is damaged") as told:
        read(tmp_path / "in.tar", work, data)
    assert what in str(told.value.got)
    assert not list(work.iterdir())


def test_a_download_that_broke_off(tmp_path: Path, work: Path) -> None:
    whole = tarred({f"{n}/softmax.py": os.urandom(3000) for n in range(20)}, "w:gz")
    with pytest.raises(IntakeError, match="the archive is damaged") as told:
        read(tmp_path / "in.tar.gz", work, whole[:-5000])
    assert told.value.next_step == "download it again"
    with pytest.raises(IntakeError, match="isn't a ZIP or tar archive"):
        read(tmp_path / "in.tar.gz", work, gzip.compress(b"just a text\n" * 100))
    assert not list(work.iterdir())


# --- archives inside ---


def test_archives_inside_are_folders_of_their_name(tmp_path: Path, work: Path) -> None:
    inner = zipped({"softmax.py": CODE, "deeper.tgz": tarred({"sdpa.py": CODE}, "w:gz"), "x.pdf": b"%PDF"})
    entries = read(
        tmp_path / "in.zip", work, zipped({"ada.zip": inner, "bob/hw.tar": tarred({"a.py": CODE})})
    )
    assert contents(entries) == {
        "ada.zip/softmax.py": CODE,
        "ada.zip/deeper.tgz/sdpa.py": CODE,
        "ada.zip/x.pdf": None,
        "bob/hw.tar/a.py": CODE,
    }
    assert len(list(work.iterdir())) == 3
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.zip").write_bytes(inner)
    assert set(contents(read_source(folder, work))) == {name for name in contents(entries) if name[0] == "a"}


def test_archives_too_deep_in_one_another(tmp_path: Path, work: Path) -> None:
    data = zipped({"softmax.py": CODE})
    for name in ("4.zip", "3.zip", "2.zip"):
        data = zipped({name: data, "softmax.py": CODE})
    entries = read(tmp_path / "in.zip", work, data)
    assert set(contents(entries)) == {"softmax.py", "2.zip/softmax.py", "2.zip/3.zip/softmax.py"}
    assert why(entries) == {
        "2.zip/3.zip/4.zip": "archives that lie more than 3 deep in one another are not opened"
    }


def test_what_is_wrong_with_an_archive_inside_concerns_nothing_else(tmp_path: Path, work: Path) -> None:
    files = {
        "ada/hw.zip": b"PK\x03\x04 broken",
        "bob/hw.zip": zipped({}),
        "eve/hw.tar.gz": b"\x1f\x8b broken",
        "kim/hw.zip": zipped({f"{n}.txt": b"" for n in range(30)}),
        "lee/hw.zip": b"Rar!",
        "max/hw.zip": zipped({"__MACOSX/._a.py": b""}),
        "mia/hw.zip": zipped({"../evil.py": CODE, "softmax.py": CODE}),
        "zoe/softmax.py": CODE,
    }
    entries = read(tmp_path / "in.zip", work, zipped(files), inside=20)
    assert set(contents(entries)) == {"mia/hw.zip/softmax.py", "zoe/softmax.py"}
    told = why(entries)
    assert told.pop("ada/hw.zip").startswith("the archive is damaged")
    assert told.pop("eve/hw.tar.gz").startswith("the archive is damaged")
    assert told == {
        "bob/hw.zip": "this archive is empty",
        "kim/hw.zip": "the archive lists too many entries (30; at most 20)",
        "lee/hw.zip": "this isn't a ZIP or tar archive",
        "mia/hw.zip/../evil.py": "this entry has a name that leads out of the archive; it was not unpacked",
    }
    assert entries.ignored == ["max/hw.zip/__MACOSX/._a.py"]


# --- bombs, and limits over the whole nest ---


def test_a_bomb_inside_takes_nobody_elses_place(tmp_path: Path, work: Path) -> None:
    zeros = zipped({"zeros.py": bytes(2**19)})  # too small to be noticed alone
    bomb = zipped({f"{n}.zip": zeros for n in range(60)})
    entries = read(tmp_path / "in.zip", work, zipped({"mal/bomb.zip": bomb, "zoe/softmax.py": CODE}))
    assert contents(entries)["zoe/softmax.py"] == CODE
    told = why(entries)
    assert any("brings its archive over 200 times its size, as bombs do" in said for said in told.values())
    everything = {"/".join(name.split("/")[:3]) for name in [*told, *contents(entries)]}
    assert everything == {"zoe/softmax.py", *(f"mal/bomb.zip/{n}.zip" for n in range(60))}
    assert sum(path.stat().st_size for path in work.iterdir()) <= 200 * len(bomb) + len(CODE)


def test_a_gzip_bomb(tmp_path: Path, work: Path) -> None:
    bomb = gzip.compress(bytes(16 * 2**20))
    with pytest.raises(IntakeError, match="unpacks to more than"):
        read(tmp_path / "in.tgz", work, bomb)
    entries = read(tmp_path / "in.zip", work, zipped({"mal/a.tgz": bomb, "zoe/softmax.py": CODE}))
    assert set(contents(entries)) == {"zoe/softmax.py"}
    assert "unpacks to more than" in why(entries)["mal/a.tgz"]
    assert len(list(work.iterdir())) == 1


def test_each_student_has_a_share_and_the_wrapper_of_all_has_none(tmp_path: Path, work: Path) -> None:
    noise = random.Random(7).randbytes(2000)
    inner = zipped({f"w/{n}/softmax.py": noise for n in range(6)})
    for name, data in {
        "a.zip": inner,
        "b.zip": zipped({"class/submissions.zip": inner}),
        "c.tar": tarred({f"hand-ins/{n}.zip": zipped({"softmax.py": noise}) for n in range(6)}),
    }.items():
        entries = read(tmp_path / name, work, data, top_level=6000)
        assert len(contents(entries)) == 6, name
        assert not entries.problems
    greedy = {f"w/mal/{n}.zip": zipped({"softmax.py": noise}) for n in range(6)} | {"w/zoe/softmax.py": noise}
    entries = read(tmp_path / "in.zip", work, zipped(greedy), top_level=6000)
    assert "w/zoe/softmax.py" in contents(entries)
    assert set(why(entries).values()) == {"this entry brings its folder over 0 MiB; it was not taken"}


def test_files_that_lie_open_have_the_same_limits(tmp_path: Path, work: Path) -> None:
    """A sparse file is as long as its owner likes, and everything that is looked at is read whole."""
    sizes = {"mal/softmax.py": 10**12, "eve/1.py": 900, "eve/2.py": 900, "zoe/softmax.py": 3}
    for name, size in sizes.items():
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(size)
    limits = ArchiveLimits(entry=1000, top_level=1000)
    entries = read_source(tmp_path / "class", work, limits)
    assert {"/".join(entry.parts) for entry in entries.files} == {"eve/1.py", "zoe/softmax.py"}
    told = why(entries)
    assert told["mal/softmax.py"] == "this file is larger than 0 MiB; it was not read"
    assert told["eve/2.py"] == "this file brings its folder over 0 MiB; it was not read"


def test_all_archives_together_have_one_limit(tmp_path: Path, work: Path) -> None:
    noise = random.Random(7).randbytes(3000)
    files = {f"{n}/hw.zip": zipped({"softmax.py": noise}) for n in range(5)}
    entries = read(tmp_path / "in.zip", work, zipped(files), total=20_000)
    assert len(contents(entries)) == 3
    assert set(why(entries).values()) == {"this entry brings all hand-ins over 0 MiB; it was not taken"}
    many = {f"{n}/hw.zip": zipped({f"{m}.txt": b"" for m in range(9)}) for n in range(5)}
    entries = read(tmp_path / "in.zip", work, zipped(many), entries=25)
    assert len(contents(entries)) == 18
    assert why(entries)["2/hw.zip"] == "the archive lists too many entries (9; at most 4)"


def test_a_count_that_hides_a_large_directory_is_seen_through(tmp_path: Path, work: Path) -> None:
    one = zipped({"a.txt": b""})
    at = one.index(b"PK\x01\x02")
    directory = one[at : one.index(b"PK\x05\x06")] * 5000
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), at, 0)
    with pytest.raises(IntakeError, match="lists too many entries") as told:
        read(tmp_path / "in.zip", work, one[:at] + directory + end, download_entries=4999)
    assert told.value.got == "5000; at most 4999"
    with pytest.raises(IntakeError, match="lists too many entries") as told:
        read(tmp_path / "in.zip", work, one[:at] + directory + end, download_entries=100)
    assert told.value.got == f"{len(directory) // 512}; at most 100", "refused by its size, unread"


def test_an_archive_of_a_hundred_thousand_entries_is_refused_unread(tmp_path: Path, work: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
        for number in range(100_000):
            made.writestr(f"{number % 1000}/{number}.txt", b"")
    with pytest.raises(IntakeError, match="lists too many entries") as told:
        read(tmp_path / "in.zip", work, (tmp_path / "in.zip").read_bytes(), download_entries=99_999)
    assert told.value.got == "100000; at most 99999"


def test_a_tar_archive_with_too_many_entries(tmp_path: Path, work: Path) -> None:
    with pytest.raises(IntakeError, match="lists too many entries") as told:
        read(tmp_path / "in.tar", work, tarred({f"{n}.txt": b"" for n in range(9)}), download_entries=8)
    assert told.value.got == "more than 8; at most 8"


# --- names ---


def test_names_of_other_systems(tmp_path: Path, work: Path) -> None:
    entries = read(
        tmp_path / "in.zip",
        work,
        zipped(
            {
                "ada\\week 1\\softmax.py": CODE,
                "./bob//softmax\u00a0(1).py": CODE,
                "Go\u0308del/CON.py": CODE,
                "eve/NUL": b"",
                "eve/Softmax.py": b"1",
                "eve/softmax.py": b"2",
                "eve/": b"",
            }
        ),
    )
    assert contents(entries) == {
        "ada/week 1/softmax.py": CODE,
        "bob/softmax (1).py": CODE,
        "Gödel/CON.py": CODE,
        "eve/NUL": None,
        "eve/Softmax.py": b"1",
        "eve/softmax.py": b"2",
    }
    assert entries.folders == {("eve",)}
    assert not entries.problems


def test_the_unicode_name_that_info_zip_writes(tmp_path: Path, work: Path) -> None:
    plain = b"G\xe4del/softmax.py"
    name = "Gödel/softmax.py".encode()
    for crc in (zlib.crc32(plain), 1):
        info = zipfile.ZipInfo("G?del/softmax.py")
        info.extra = struct.pack("<HHBI", 0x7075, 5 + len(name), 1, crc) + name
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as made:
            made.writestr(info, CODE)
        entries = read(tmp_path / "in.zip", work, data.getvalue().replace(b"G?del", b"G\xe4del"))
        assert set(contents(entries)) == {"Gödel/softmax.py" if crc != 1 else "GΣdel/softmax.py"}


def test_encrypted_files_are_named_and_all_others_taken(tmp_path: Path, work: Path) -> None:
    data = bytearray(zipped({"ada/softmax.py": CODE, "bob/softmax.py": CODE}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    entries = read(tmp_path / "in.zip", work, bytes(data))
    assert set(contents(entries)) == {"bob/softmax.py"}
    (problem,) = entries.problems
    assert problem.where == "ada/softmax.py"
    assert problem.message == "this entry is encrypted; it was not unpacked"
    assert problem.next_step == "pack it again without a password"


# --- whatever the bytes are ---


@settings(max_examples=300)
@given(st.data())
def test_broken_nests_give_lists_or_one_error_and_write_nowhere_else(data: st.DataObject) -> None:
    pack = data.draw(st.sampled_from([zipped, tarred, lambda files: tarred(files, "w:gz")]))
    inner = data.draw(st.sampled_from([zipped, tarred]))({"softmax.py": CODE, "b/x.py": b"#" * 600})
    broken = bytearray(pack({"ada/hw.zip": inner, "bob/softmax.py": CODE}))
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del broken[data.draw(st.integers(0, len(broken))) :]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name, "work")
        work.mkdir()
        try:
            entries = read(Path(name, "in.zip"), work, bytes(broken))
        except IntakeError as error:
            assert error.got != ""
        else:
            assert {entry.path for entry in entries.files if entry.path} == set(work.iterdir())
        assert {path.name for path in Path(name).iterdir()} == {"in.zip", "work"}


# Run in a process of its own: tracemalloc counts every thread, and a test worker's threads allocate too.
_MEASURED = """
import sys, tracemalloc
from pathlib import Path
from engine.intake.unpack import read_source

source, work = map(Path, sys.argv[1:])
tracemalloc.start()
entries = read_source(source, work)
print(len(entries.files), tracemalloc.get_traced_memory()[1])
"""


def test_what_is_unpacked_is_never_held_in_memory(tmp_path: Path, work: Path) -> None:
    noise = random.Random(7).randbytes(100_000)
    inner = zipped({"softmax.py": noise})
    (tmp_path / "in.zip").write_bytes(zipped({f"{n}/hw.zip": inner for n in range(200)}))
    command = [sys.executable, "-c", _MEASURED, str(tmp_path / "in.zip"), str(work)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    files, peak = map(int, printed.split())
    assert files == 200
    assert peak < 4 * 2**20 < 200 * len(noise)
