#!/bin/sh
# Installs the programs of Omnigraph {{.Number}}:
#
#   sh install.sh [FOLDER]
#
# FOLDER is $HOME/.local/bin if it is not given. The archive must have the sum that this script names, which the release
# computed. OMNIGRAPH_DOWNLOADS is the address of the archives, for a mirror.
set -eu

version={{.Tag}}
from=${OMNIGRAPH_DOWNLOADS:-{{.Homepage}}/releases/download/$version}
to=${1:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there are no archives for $(uname -s); see {{.Homepage}}/releases" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there are no archives for $(uname -m); see {{.Homepage}}/releases" ;;
esac
case ${os}_$arch in
{{- range .Archives}}
  {{.Platform.OS}}_{{.Platform.Arch}}) sum={{.Sum}} ;;
{{- end}}
  *) fail "$version has no archive for $os on $arch" ;;
esac
name={{.Project}}_${version}_${os}_$arch

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v curl >/dev/null 2>&1; then
  curl -fsSL -o "$work/archive" "$from/$name.tar.gz" || fail "cannot download $from/$name.tar.gz"
elif command -v wget >/dev/null 2>&1; then
  wget -q -O "$work/archive" "$from/$name.tar.gz" || fail "cannot download $from/$name.tar.gz"
else
  fail "neither curl nor wget is installed"
fi
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum <"$work/archive")
elif command -v shasum >/dev/null 2>&1; then
  found=$(shasum -a 256 <"$work/archive")
else
  fail "neither sha256sum nor shasum is installed, so the archive cannot be checked"
fi
[ "${found%% *}" = $sum ] || fail "the sum of $name.tar.gz is ${found%% *} and should be $sum; nothing is installed"

tar -xzf "$work/archive" -C "$work"
mkdir -p "$to"
for program in{{range .Programs}} {{.}}{{end}}; do
  # A program that runs keeps its file: the new one takes its name.
  cp "$work/$name/$program" "$to/.$program.new"
  chmod 0755 "$to/.$program.new"
  mv "$to/.$program.new" "$to/$program"
  echo "$to/$program"
done
case ":$PATH:" in
  *":$to:"*) ;;
  *) echo "Add $to to PATH." ;;
esac
