"""Pages and tables: feedback for each student, gradebook, class summary, printable quiz."""

from __future__ import annotations

from engine.pages.feedback import feedback_page
from engine.pages.quiz import key_page, quiz_page
from engine.pages.summary import ReportFiles, summary_page, write_reports

__all__ = ["ReportFiles", "feedback_page", "key_page", "quiz_page", "summary_page", "write_reports"]
