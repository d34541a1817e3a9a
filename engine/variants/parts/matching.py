"""Matching: each prompt belongs to one target."""

from __future__ import annotations

from engine.model import Option, Part
from engine.spec.schema import MatchingAnswer
from engine.variants.parameters import ImpossibleDraw
from engine.variants.parts.draft import Draft, FieldContext, Scribe, letters
from engine.variants.parts.pool import Pool, offered
from engine.variants.stream import Stream

__all__ = ["draft"]


def draft(answer: MatchingAnswer, context: FieldContext) -> Draft:
    """Draft a matching field; prompts get numbers, targets letters.

    Raises
    ------
    ImpossibleDraw
        A prompt belongs to a target that isn't there, or there are fewer prompts than ``draw`` asks for.
    """
    kept = [answer.targets[i] for i in offered(answer.targets, context.names)]
    known = [target.id for target in kept]
    there = offered(answer.prompts, context.names)
    pool = Pool(("prompts", there, answer.draw))
    for prompt in (answer.prompts[i] for i in there):
        if prompt.target not in known:
            raise ImpossibleDraw(f"there is no target {prompt.target}")

    def build(scribe: Scribe, stream: Stream) -> Part:
        prompts = stream.shuffled([answer.prompts[i] for i in pool.draw(stream)])
        targets = stream.shuffled(kept)
        letter = dict(zip((target.id for target in targets), letters(len(targets)), strict=True))
        left = tuple(
            Option(
                str(number),
                scribe.text(prompt.text, "prompt", inline=True),
                feedback=scribe.feedback(prompt.feedback),
            )
            for number, prompt in enumerate(prompts, start=1)
        )
        right = tuple(
            Option(letter[target.id], scribe.text(target.text, "target", inline=True)) for target in targets
        )
        keys = tuple(letter[prompt.target] for prompt in prompts)
        settings = {"policy": answer.policy}
        return Part("", answer.type, 1.0, key_ids=keys, options=right, prompts=left, settings=settings)

    return Draft(None, pool.signature, build)
