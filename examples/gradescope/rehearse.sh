#!/usr/bin/env bash
# Makes an autograder, lays it out as Gradescope does, and runs its own script on three hand-ins and on none.
# Nothing is installed: it runs with the Python that `grade` runs with.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

grade autograder make softmax --out "$root/autograder.zip" --tier "${1:-T2}"
python -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' \
  "$root/autograder.zip" "$root/source"

export SOFTMARK_AUTOGRADER=$root
SOFTMARK_PYTHON=$(python -c 'import sys; print(sys.executable)')
export SOFTMARK_PYTHON
for hand_in in right wrong hostile none; do
  rm -rf "$root/submission"
  mkdir "$root/submission"
  if [ "$hand_in" != none ]; then
    cp "$here/$hand_in.py" "$root/submission/softmax.py"
  fi
  printf '\n== %s\n' "$hand_in"
  bash "$root/source/run_autograder" >/dev/null
  python - "$root/results/results.json" <<'END'
import json
import sys

with open(sys.argv[1]) as file:
    found = json.load(file)
print("score:", found.get("score", "none"))
for test in found.get("tests", []):
    if test["status"] == "failed":
        print(f"  failed ({test['visibility']}): {test['name']}: {test.get('output', '').splitlines()[:1]}")
print(found["output"].splitlines()[-1])
END
done
