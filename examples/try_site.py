"""Start ``grade serve`` for a course, ask its pages, and stop it: the site of the demo works.

Usage: try_site.py COURSE
"""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.request import urlopen


def main(course: str) -> int:
    """Return 0 if the site starts, answers and ends when it is asked to."""
    command = ["grade", "serve", "--course", course, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as site:
        assert site.stdout is not None
        printed = ""
        for line in site.stdout:
            printed += line
            if "Ctrl-C ends" in line:
                break
        found = re.search(r"http://[\d.:]+", printed)
        try:
            if found is None:
                return 1
            for path in ("/health/ready", "/"):
                with urlopen(found[0] + path, timeout=60) as answer:
                    page = answer.read().decode("utf-8")
                print(f"{path}: {answer.status}{' ' + page if path != '/' else ''}")
        finally:
            site.terminate()
    return 0 if site.returncode == 0 and "Sign in" in page else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
