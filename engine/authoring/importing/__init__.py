"""Questions of other systems: Moodle XML and GIFT files into problem files.

A reader (:mod:`~engine.exchange.moodle_xml`, :mod:`~engine.exchange.gift`) makes neutral questions of a file;
what they become here is the same for all of them: :mod:`~engine.exchange.to_spec`.
"""
