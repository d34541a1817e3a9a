"""``grade preview``: a live page of one item for its author."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.options import course_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.authoring.preview.follow import PreviewSource

DEFAULT_PORT = 8377  # always the same, so that a tab of the browser stays useful; registered for nothing


@click.command("preview")
@click.argument("item", metavar="ITEM|FILE.yaml")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port of the page on this machine; 0 picks a free one.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="Number of variants to show, from seed 0.",
)
@click.option("--no-browser", is_flag=True, help="Don't open a browser; the address is printed.")
@course_option
def command(item: str, port: int, seeds: int, no_browser: bool, course_path: Path | None) -> None:
    """Show ITEM as a page that redraws on every save, until Ctrl-C.

    It shows variants side by side with keys, known mistakes and feedback, hints, solution and drawn values,
    and above them what lint says. A fault in the file is shown with its line; the last good variants stay.
    The page is served to this machine only.

    \b
    Examples:
      grade preview my-first-item.yaml
      grade preview softmax-weights --seeds 4 --port 0 --no-browser
    """
    _need_server()
    source = _source(item, seeds, course_path)
    from engine.authoring.preview.follow import SaveFollower
    from engine.authoring.preview.server import PageHub, bind, serve

    listening = bind(port)
    follower = SaveFollower(source, lambda look: hub.show(look))
    hub = PageHub(follower.look, source.path)

    def ready(address: str) -> None:
        # In one write: a program that waits for the address gets the whole line.
        click.echo(f"preview of {source.path}: {address}\n  redrawn whenever you save; Ctrl-C ends")
        sys.stdout.flush()
        if not no_browser:
            _open_browser(address)
        follower.start()

    # serve() returns at Ctrl-C.
    try:
        serve(hub, listening, ready)
    finally:
        follower.stop()
    click.echo("", err=True)  # behind the terminal's ^C


def _need_server() -> None:
    from importlib.util import find_spec  # the web server is an extra

    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the preview needs {' and '.join(missing)}",
            next_step='install them: pip install "softmark[web]"',
        )


def _source(item: str, seeds: int, course_path: Path | None) -> PreviewSource:
    from engine.authoring.preview.follow import PreviewSource
    from engine.items.bank import REGISTRY_FILE, SYLLABUS_FILE, builtin_root

    context = find_context(course_path)
    path = Path(item) if item.endswith((".yaml", ".yml")) else context.bank.path(item)
    if not path.is_file():
        fault = "this isn't a file" if path.exists() else "there is no such file"
        step = f"grade new item {path.stem} --type TYPE writes one"
        raise UsageError(fault, where=str(path), next_step=step)
    # An item's page changes when a sentence in the registry does: these files are followed as well.
    roots = [builtin_root()] + ([context.course.problems] if context.course else [])
    return PreviewSource(
        path=path,
        bank=lambda: find_context(course_path).bank,
        seeds=seeds,
        registries=tuple(root / name for root in roots for name in (REGISTRY_FILE, SYLLABUS_FILE)),
    )


def _open_browser(address: str) -> None:
    # Without a desktop webbrowser starts one in the terminal, which then is lost to the preview.
    has_desktop = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if sys.platform.startswith("linux") and not has_desktop:
        return
    import threading
    import webbrowser

    # Some browsers block the call until they are closed.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
