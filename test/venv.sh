#!/usr/bin/env bash
# venv.sh FOLDER makes a virtual environment of Python in FOLDER/.venv, with the packages in the
# versions that FOLDER/requirements.txt pins. It does nothing if they are installed.
set -euo pipefail
cd "$1"
if cmp -s requirements.txt .venv/installed; then exit 0; fi
rm -rf .venv
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
cp requirements.txt .venv/installed
