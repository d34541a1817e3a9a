"""Python source → tokens that stay the same when a file is disguised: renamed, reordered, reformatted."""

from engine.similar.normal.reading import Normal, normal_form
from engine.similar.normal.token import Statement, Token

__all__ = ["Normal", "Statement", "Token", "normal_form"]
