"""From the prose of an item to what a student reads: plain text, HTML with MathML, and LaTeX.

:mod:`~engine.prose.stems` is the way in: it fills a template with the values of a variant, and has
:mod:`~engine.prose.markdown` parse the result, with :mod:`~engine.prose.maths` and
:mod:`~engine.prose.pictures` for its formulas and pictures. A text is parsed once for all variants of its
item.
"""
