"""Learning systems by LTI 1.3 Advantage: our keys, what we ask of them, their members, and marks for them.

The site (:mod:`engine.web.lti`) takes launches; ``grade lti`` does from a terminal what needs no browser. The
protocol is that of the library ``pylti1p3``; where it trusts an answer, or waits for one without end, the
classes here set limits.
"""
