"""Files, notebooks, folders and archives → submissions, and a list of what can't be taken in."""

from engine.intake.code_file import read_code_file
from engine.intake.code_folder import read_submission
from engine.intake.collect import collect
from engine.intake.decoding import read_text_file

__all__ = ["collect", "read_code_file", "read_submission", "read_text_file"]
