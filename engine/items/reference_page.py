"""The parts of ``docs/problem-spec.md`` that are written and not generated."""

from __future__ import annotations

__all__ = [
    "COVERS",
    "EXPRESSIONS",
    "INTRODUCTION",
    "MISTAKES",
    "PICTURES",
    "POOLS",
    "PRINTED",
    "STEPS",
    "TEXTS",
    "YAML_RULES",
]

INTRODUCTION = """\
# Problem files

<!-- Generated from engine/spec by `python -m engine.spec.reference_page`; change the text there. -->

One file is one item: `softmax-weights.yaml` is the item `softmax-weights`. Put your own files into the
`problems` folder of your course; an item there takes the place of a built-in one with the same name. Then

    grade lint softmax-weights
    grade show softmax-weights --seed 1

check it by recomputation and show one of its variants. Whatever is wrong with a file is shown at once, each
fault with its line and column:

    softmax-weights.yaml:9:35: there is no function 'softmx'; did you mean 'softmax'?
        answer: {type: vector, key: softmx(e), decimals: 3}
                                    ^

An editor that knows JSON Schema completes and checks while you type, if the file begins with

    # yaml-language-server: $schema=schema.json

and the schema lies beside it (`grade schema > schema.json`).

Every key and every wrong option that can be computed is computed, from the numbers of the variant that a
student gets. You write the *expression*; nobody types a number that can be wrong.
"""

YAML_RULES = """\
## YAML as it is read here

Files are UTF-8 text of at most 1 MiB in YAML 1.2. That makes a difference to what older tools do:

- Only `true` and `false` are truth values; `yes`, `no`, `on` and `off` are words.
- `010` is ten. `1e-3` is a number. `12:30:45` and `2026-11-27` are words.
- `0.10` keeps its digits: a step of `0.1` is exactly one tenth.
- A key that stands twice is an error. Anchors (`&x`), aliases (`*x`), merge keys (`<<`) and tags (`!x`)
  aren't possible.
- Keys are words, whatever they look like; values are what they look like. A section `5.1` that is meant as
  a word stands in quotes: `section: "5.1"`.
- In double quotes a backslash means something: `"\\tanh"` would be a tab and `anh`. Write formulas in
  single quotes, or after `|` on lines of their own.
- In `{ … }` and `[ … ]` a text with a comma, a colon or brackets stands in quotes:
  `{key: "context(w, H)"}`.
"""

EXPRESSIONS = """\
## Expressions

Keys, derived values, constraints, invariants and misconceptions are expressions:

    context(softmax(e), H)
    2 ** e / sum(2 ** e)
    abs(sum(w) - 1) <= 0.01

They consist of names, numbers, words in quotes, lists, `+ - * / // % ** @`, comparisons, `and`, `or`,
`not`, `a if condition else b`, positions from 0 (`e[0]`, `H[-1]`) and calls of the functions below.
Arithmetic works entry by entry; the shapes must be equal, or one side a number. `@` is the matrix product.
All is computed in double precision.

An expression may use what stands above it: sizes the parameters before them, derived values the parameters
and the derived values before them, a step also the values of the steps before it, and the invariants and
misconceptions of a step that step's own value too.
"""

TEXTS = """\
## Texts

Stems, prompts, options, feedback, hints and solutions are Markdown with formulas between `$` and `$`, or
`$$` and `$$` on their own. A dollar sign is `\\$`. What stands in `{{ … }}` is filled in for each variant:
names of parameters and derived values, expressions, and the functions below; feedback and the solution may
also use the key: `{{ key }}`, or in an item with steps the steps' ids. `{% for row in H %} … {% endfor %}`
repeats, `{% if … %} … {% endif %}` chooses. Leave a blank between a brace of LaTeX and one of these:
`\\frac{ {{ a }} }{2}`.
"""

PICTURES = """\
### Pictures

`heatmap`, `alignment_grid` and `beam_tree` draw a picture of a variant's own numbers. It stands in a
paragraph of its own, in a stem, prompt, note, hint or solution; options, cards and feedback are one line and
can't hold one:

    {{ heatmap(softmax(E), "the cat sleeps", "the cat sleeps") }}

    {{ alignment_grid(A, "le chat dort", "the cat is sleeping") }}

    {{ beam_tree(T, 2, "A B C") }}

Words stand in one text with blanks between them; without words, rows and columns are numbered and the words
of a tree are A, B, C … A word has at most 20 characters, a matrix at most 12 rows and 12 columns, a tree at
most 64 hypotheses. Weights are shaded from 0 to 1, all other numbers from the smallest to the largest (0
included).

You write nothing for those who can't see it: the alternative text holds every number with its words, each
cell has a title, and nothing is told by colour. In the terminal a picture is drawn with characters, in LaTeX
as a `tabular`. LaTeX of ours needs the packages `fontenc` (T1), `amsmath` and `amssymb`, and no others.
"""

POOLS = """\
## Pools

Options of a choice, prompts of a matching and cards of an ordering can be a pool, of which each variant shows
some: `draw: [1, 3]` takes one right and three wrong options, `draw: 4` four prompts or cards. A pool of three
right and five wrong options with a sentence of `feedback` each gives a class enough different questions.

A multiple choice with `draw: 6` shows six options, of which one to four are right, as far as the pool has
them: another number in each variant, each equally likely, so that nobody knows how many to pick. With
[right, wrong] the numbers are always the same, and `grade lint --strict` warns.

An option, prompt, target or card with `when` belongs only to variants for which the expression is true. A
statement that holds for some drawn values and not for others stands there twice:

    - {text: The score is a vector, correct: true, when: m > 1}
    - {text: The score is a vector, when: m == 1, feedback: One row gives one number.}
"""

STEPS = """\
## Steps

An item has one `answer`, or several `steps`, each with its own answer field. Each step is marked as it
stands and, with `follow_through`, once more with the student's own earlier values; the better result
counts, if those values meet the `invariants`. The id of a step is the name of its value.
"""

MISTAKES = """\
## Known mistakes

A wrong answer is compared with what each known mistake would give. Ids and sentences stand in the registry,
`misconceptions.yaml`, a mapping from id to sentence:

    m-base2: This is what powers of 2 give. Softmax uses powers of e.

An item lists the ids that fit it, each with the expression of the mistake. A course's own registry adds to
the built-in one, or replaces sentences of it.
"""

COVERS = """\
## What an item covers

`syllabus.yaml` in the folder of the problems lists what a course is about: groups of entries, each with a
`title`, perhaps `where` the lecture has it, and `no_item` with the reason where no item is meant to cover it.
A course's own file adds to the built-in one. Items name the entries they cover in `covers`; a fault that
stands in `errata` counts by itself. `grade coverage` shows which items cover what, and what is left over.

## What an item needs

`terms.yaml` in the same folder lists what can be presupposed: terms such as `softmax` or `self-attention`,
and lecture documents whose notation an item may quote (`S0` to `S4`), each with a `title` and the `words` by
which texts show it. A course's own file adds to the built-in one. An item names in `needs` what its students
must have been taught; a blueprint with `needs: [seq2seq, recurrence]` draws only items that need nothing
else. An item without `needs` is drawn whatever a blueprint says. Of an item with `needs`, `grade lint
--strict` finds terms that its title, stem, prompts, options or hints use and `needs` doesn't name.
"""

PRINTED = """\
## Printed exercises and errata

An exercise of a lecture is kept as it is printed, beside the form that is scored. `grade lint` recomputes
it: if no printed option is right, the file must say so, with `status: erratum` and an erratum, or lint
fails. An item of your own may note a fault of its source in `errata` and keep the status `ok`. The built-in
`l16-ex3-softmax-weights` shows both keys at work.
"""
