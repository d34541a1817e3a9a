"""``grade autograder make``: the zip that Gradescope takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace

__all__ = ["make"]


@click.command("make")
@click.argument("items", metavar="ITEM…", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The zip to write.")
@click.option(
    "--hidden",
    type=click.Choice(["after_due_date", "after_published", "visible"]),
    default="after_due_date",
    show_default=True,
    help="When students see the checks whose inputs they aren't shown, and the total.",
)
@click.option("--tier", type=click.Choice(["T1", "T2"]), default=None, help="Demand this sandbox tier there.")
@json_option
@course_option
def make(
    items: tuple[str, ...], out: Path, hidden: str, tier: str | None, as_json: bool, course_path: Path | None
) -> int:
    """Write an autograder for Gradescope that grades the code exercises ITEM….

    The zip holds the keys and Softmark itself: it is for Gradescope only, never for students.

    \b
    Example:
      grade autograder make softmax sdpa --out autograder.zip --course attention-2026
    """
    from engine.commands.workplace import find_workplace
    from engine.files import replacing
    from engine.gradebooks.autograder import AutograderSettings, Packing, harness_zip
    from engine.spec.registry import REGISTRY_FILE

    workplace = find_workplace(course_path)
    course = workplace.course
    wanted = tuple(dict.fromkeys(items))
    points = sum(_points(workplace, item) for item in wanted)
    own = course.problems / REGISTRY_FILE if course else None
    packed = harness_zip(
        Packing(
            settings=AutograderSettings(wanted, hidden, tier),
            title=course.title if course else "Gradescope",
            key=_key(workplace, wanted),
            folders=[workplace.bank.path(item).parent for item in wanted],
            registry=own if own is not None and own.is_file() else None,
        )
    )
    try:
        with replacing(out, private=True) as file:
            file.write(packed)
    except OSError as error:
        raise UsageError(
            "the zip can't be written",
            where=str(out),
            got=error.strerror or str(error),
            next_step="name a file in a folder that you may write to: --out FILE",
        ) from error
    if as_json:
        told = {
            "file": str(out),
            "items": list(wanted),
            "points": points,
            "hidden": hidden,
            "bytes": len(packed),
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return 0
    from engine.commands.render import number

    click.echo(f"{out}: {', '.join(wanted)}; {len(packed) / 1e6:.1f} MB")
    click.echo("It holds the keys: give it to nobody but Gradescope.")
    click.echo(
        f"  next: upload it under Configure Autograder, set Autograder points to {number(points)}, and try "
        "it there with a right and a wrong file"
    )
    return 0


def _points(workplace: Workplace, item: str) -> float:
    """Return an exercise's points; a :class:`UsageError` if it is no code exercise."""
    spec = workplace.bank.load(item)
    if spec.kind != "code":
        raise UsageError(f"{item} is no code exercise", expected="code exercises only: see grade list")
    return spec.points


def _key(workplace: Workplace, items: tuple[str, ...]) -> bytes:
    """Return the autograder's key: of a course always the same, and no way back to the course's secret."""
    import hashlib
    import hmac
    import secrets

    if workplace.course is None:
        return secrets.token_bytes(32)
    message = json.dumps(["autograder", sorted(items)]).encode("ascii")
    return hmac.new(workplace.secret(), message, hashlib.sha256).digest()
