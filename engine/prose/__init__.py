"""From the prose of an item to what a student reads: plain text, HTML with MathML, and LaTeX.

:mod:`~engine.prose.stems` fills a template with the values of a variant, :mod:`~engine.prose.markdown` parses
the result, :mod:`~engine.prose.maths` and :mod:`~engine.prose.pictures` make what stands in it, and
:mod:`~engine.prose.stems` does it all. A text is parsed once for all variants of its item.
"""
