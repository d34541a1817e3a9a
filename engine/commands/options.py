"""Options that several commands share, each declared once."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.errors import UsageError
from engine.text.words import clean_line, near_words

F = TypeVar("F", bound=Callable[..., Any])

# Key of click's `meta`, which a command and its groups share.
_STORE = "softmark.store"
_STORE_VARIABLE = "SOFTMARK_STORE"


class CommandGroup(click.Group):
    """A group whose help shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        write_commands(formatter, "Commands", commands)


def write_commands(
    formatter: click.HelpFormatter, heading: str, commands: Sequence[tuple[str, click.Command | None]]
) -> None:
    """Write one section of a help text: name and first sentence of each command, not cut."""
    # click cuts at 45 characters by default, in the middle of what tells two commands apart.
    rows = [(name, command.get_short_help_str(limit=1_000)) for name, command in commands if command]
    with formatter.section(heading):
        formatter.write_dl(rows)


class RegistryChoice(click.Choice):  # type: ignore[type-arg]
    """One of the names in a registry, which is imported when the names are needed.

    A copy of the names here would be forgotten by whoever adds a kind; an import here would slow every
    ``grade --help``.

    Parameters
    ----------
    module, registry : str
        Where the names are: a mapping or sequence of them.
    others : str
        Further names, before those.
    """

    def __init__(self, module: str, registry: str, *others: str) -> None:
        # Without super().__init__, which reads the choices.
        self._module, self._registry, self._others = module, registry, others
        self.case_sensitive = False

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name that is meant, in any case; a slip gets the nearest name with the error."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = near_words(str(value), self.choices)
            if not near:
                raise
            message = f"{error.message} Did you mean {near[0]}?"
            raise click.BadParameter(message, error.ctx, error.param) from error

    @functools.cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names that can be chosen."""
        return (*self._others, *getattr(importlib.import_module(self._module), self._registry))


def json_option(function: F) -> F:
    """Add ``--json``: one JSON document on standard output, nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")(function)


def course_option(function: F) -> F:
    """Add ``--course``: the course folder; found upwards from here when left out."""
    return click.option(
        "--course",
        "course_path",
        type=click.Path(path_type=Path),
        default=None,
        help="Course folder (default: the one that holds this folder, else practice).",
    )(function)


def store_option(function: F) -> F:
    """Add ``--store``: another store than the course's, which :func:`chosen_store` returns."""
    return click.option(
        "--store",
        metavar="URL|FILE",
        # Not a parameter of every command: whoever opens the store asks :func:`chosen_store`.
        expose_value=False,
        callback=_remember_store,
        help=f"Store instead of the course's: postgresql://… or a file (also by {_STORE_VARIABLE}).",
    )(function)


def _remember_store(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[_STORE] = check_store(value, "--store")


def check_store(value: str, name: str) -> str:
    """Return a store's address; a :class:`UsageError` about the option or variable that gave it."""
    # SQLAlchemy knows other databases too, which our locks and migrations weren't made for.
    scheme, separator, _ = value.partition("://")
    if not value or (separator and scheme.partition("+")[0] != "postgresql"):
        # The address isn't shown: there may be a password in it.
        raise UsageError(f"{name} can't be used", expected="a file, or postgresql://user@host/name")
    return value


def chosen_store(*, in_course: bool) -> str | None:
    """Return the store that ``--store`` names, or in a course ``SOFTMARK_STORE``; None for the usual one."""
    # Silent: tests and the shell's completion ask outside any command.
    context = click.get_current_context(silent=True)
    option: str | None = None if context is None else context.meta.get(_STORE)
    # A variable left over in the shell must not draw practice into a class's store.
    if option is not None or not in_course:
        return option
    value = os.environ.get(_STORE_VARIABLE)
    return check_store(value, _STORE_VARIABLE) if value else None


def complete_items(_context: click.Context, _parameter: click.Parameter, beginning: str) -> list[str]:
    """Return the ids that begin so, for the shell's completion."""
    from engine.commands.context import find_context

    try:
        return [item for item in find_context(None).bank.ids() if item.startswith(beginning)]
    except Exception:  # a completion that fails must not write into somebody's command line
        return []


def item_argument(function: F) -> F:
    """Add ``ITEM``: the id of an item, which the shell can complete."""
    return click.argument("item", shell_complete=complete_items)(function)


class _SeedOption(click.Option):
    def get_help_extra(self, ctx: click.Context) -> Any:
        # The bound of 19 digits is no limit that anybody meets: the help doesn't show it.
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def seed_option(function: F) -> F:
    """Add ``--seed``: which variant of an item."""
    return click.option(
        "--seed",
        cls=_SeedOption,
        type=click.IntRange(0, 2**63 - 1),  # up to what SQLite keeps as an integer
        metavar="N",
        default=0,
        show_default=True,
        help="Variant of the item: any whole number from 0 on.",
    )(function)


def workers_option(function: F) -> F:
    """Add ``--workers``: how many submissions are graded at the same time."""
    return click.option(
        "--workers", type=click.IntRange(1, 256), default=None, help="Sandbox slots (default: all cores)."
    )(function)


def cluster_option(function: F) -> F:
    """Add ``--cluster``: student code is graded by workers of other machines."""
    return click.option(
        "--cluster", is_flag=True, help="Grade code on the workers (grade worker) of the course's queue."
    )(function)


_SANDBOX_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "tier": click.option(
        "--tier", type=click.Choice(["T1", "T2", "T3"]), default=None, help="Require this sandbox tier."
    ),
    "unsafe_local": click.option(
        "--unsafe-local", is_flag=True, help="Allow marks at T3 and on a GPU: for trusted code only."
    ),
    "device": click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        help="Where tensors live; cuda is a weaker tier. Files that use numpy are graded on the CPU.",
    ),
}


def sandbox_options(*names: str) -> Callable[[F], F]:
    """Add ``--tier``, ``--unsafe-local`` and ``--device``, or those named.

    The command gets them as one value, ``sandbox``, a :class:`engine.runner.SandboxOptions`.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def with_sandbox(*args: Any, **values: Any) -> Any:
            from engine.runner import SandboxOptions

            # Options that a command doesn't have keep their defaults.
            chosen = {name: values.pop(name) for name in names or _SANDBOX_OPTIONS}
            return function(*args, sandbox=SandboxOptions(**chosen), **values)

        # click lists options in the order of the decorators, the last one applied first.
        for name in reversed(names or tuple(_SANDBOX_OPTIONS)):
            with_sandbox = _SANDBOX_OPTIONS[name](with_sandbox)
        return with_sandbox  # type: ignore[return-value]

    return decorate


def by_option(function: F) -> F:
    """Add ``--by``: who decides; the name of this account by default."""
    return click.option(
        "--by",
        default=None,
        callback=lambda _context, _parameter, name: _decider(name),
        help="Who decides (default: this account's name).",
    )(function)


def _decider(name: str | None) -> str:
    if name is None:
        from engine.commands.journal import account_name

        return account_name()
    return _check_name("--by", name, "a name")


def check_student(student: str) -> None:
    """Refuse an id that nobody could read or type again."""
    _check_name("--student", student, "an id")


def _check_name(option: str, text: str, kind: str) -> str:
    # It is printed in tables and CSV files for years: no control characters, no blank ends.
    if not text.strip() or clean_line(text, 100) != text:
        raise UsageError(
            f"{option} can't be used", expected=f"{kind} of 1 to 100 characters", got=repr(text[:100])
        )
    return text
