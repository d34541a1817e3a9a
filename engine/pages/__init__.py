"""Pages and tables: feedback for each student, gradebook, class summary, printable quiz."""

from engine.report.feedback import feedback_page
from engine.report.gradebook import gradebook_csv, gradebook_json
from engine.report.key_page import key_page
from engine.report.quiz_page import quiz_page
from engine.report.summary import summary_page
from engine.report.write import ReportFiles, write_reports

__all__ = [
    "ReportFiles",
    "feedback_page",
    "gradebook_csv",
    "gradebook_json",
    "key_page",
    "quiz_page",
    "summary_page",
    "write_reports",
]
