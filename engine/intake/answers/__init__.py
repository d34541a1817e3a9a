"""The answers of a whole class in one file: tables, exports of forms, YAML → hand-ins by student.

What looks at files only is here; :mod:`engine.intake.answers.take` needs the store and is loaded by whom
needs it.
"""

from engine.intake.answers.kinds import TABLES, is_class_yaml

__all__ = ["TABLES", "is_class_yaml"]
