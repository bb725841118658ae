#!/bin/sh
# Creates the user that the server runs as. The server itself starts only when an administrator
# enables its units, because it has no configuration yet.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
  systemd-sysusers --root="${DPKG_ROOT:-/}" omnigraph.conf
fi
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
