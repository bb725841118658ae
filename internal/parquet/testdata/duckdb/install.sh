#!/usr/bin/env bash
# Installs DuckDB, in the version that requirements.txt pins, into a virtual environment in this
# folder. It does nothing if that version is installed.
set -euo pipefail
cd "$(dirname "$0")"
if cmp -s requirements.txt .venv/installed; then exit 0; fi
rm -rf .venv
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
cp requirements.txt .venv/installed
