#!/usr/bin/env bash
# Installs the fuzzer, in the versions that requirements.txt pins, into a virtual
# environment beside it. Done once; again when the versions change.
set -euo pipefail
cd "$(dirname "$0")"
if cmp -s requirements.txt .venv/installed; then exit 0; fi
rm -rf .venv
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
cp requirements.txt .venv/installed
