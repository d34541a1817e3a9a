"""``grade export``: marks for a gradebook, questions for another platform."""

from __future__ import annotations

import click

from engine.commands.export.gradebook import gradebook
from engine.commands.export.notebook import notebook
from engine.commands.export.quiz import quiz
from engine.commands.options import CommandGroup
from engine.text.words import near_words

__all__ = ["command"]


class ExportGroup(CommandGroup):
    """What can be exported; a first word that is none of it is the format of a gradebook."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments as those of `gradebook`, where an option of it comes first."""
        # an option of the group itself asks for help
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = ["gradebook", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a first word; one that names none is the format of a gradebook."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        near = near_words(args[0], [name for name in self.commands if name != "gradebook"])
        if near:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]}?")
        self._refuse_questions(ctx, args)
        return "gradebook", self.commands["gradebook"], args

    @staticmethod
    def _refuse_questions(ctx: click.Context, args: list[str]) -> None:
        """Name `quiz` to whoever gives a format of questions, or items, where it is left out."""
        from engine.export.formats import FORMATS
        from engine.marks.gradebooks.formats import FORMATS as GRADEBOOKS

        name = args[0].lower()
        has_items = len(args) > 1 and not args[1].startswith("-")
        if name in FORMATS and (name not in GRADEBOOKS or has_items):
            ctx.fail(f"Marks are exported here. For questions: grade export quiz {name} ITEM…")


@click.group("export", cls=ExportGroup)
def command() -> None:
    """Write marks as a gradebook, questions as a quiz of another platform, or an assignment for Jupyter.

    `grade export canvas` is short for `grade export gradebook canvas`; so is moodle, csv and excel.

    \b
    Examples:
      grade export canvas --into canvas.csv --out upload.csv --column "HW 1 (4711)=l16"
      grade export quiz moodle softmax-weights --variants 20 --out softmax.xml
      grade export notebook softmax --out softmax.ipynb
    """


for _subcommand in (gradebook, quiz, notebook):
    command.add_command(_subcommand)
