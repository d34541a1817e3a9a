"""The answers of a whole class in one file: tables, exports of forms, YAML → hand-ins by student."""

from engine.intake.answers.kinds import TABLES, is_class_yaml

__all__ = ["TABLES", "is_class_yaml"]
