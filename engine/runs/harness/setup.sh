#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image. It installs what grading needs into a place
# that everybody may read (the sandbox shows it to student code), and locks away Softmark and the keys.
set -euo pipefail

root=${SOFTMARK_AUTOGRADER:-/autograder}
venv=${SOFTMARK_VENV:-/opt/softmark}
source=$root/source

chmod -R go-rwx "$source"

newest_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3; do
    if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
      echo "$name"
      return 0
    fi
  done
  return 1
}

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends libseccomp2
if ! python=$(newest_python); then
  apt-get install -y --no-install-recommends python3.11
  python=python3.11
fi
if ! "$python" -m venv "$venv"; then
  apt-get install -y --no-install-recommends "$python-venv"
  "$python" -m venv --clear "$venv"
fi
torch=$(grep '^torch==' "$source/requirements.txt")
"$venv/bin/pip" install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu "$torch"
"$venv/bin/pip" install --no-cache-dir -r "$source/requirements.txt"

# The build's log shows which sandbox tier this machine gives; a weak one fails here and not on the first student.
cd /
"$venv/bin/python" -I -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); from cli import main; main()' \
  "$source/softmark" doctor
