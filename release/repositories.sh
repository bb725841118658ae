#!/usr/bin/env bash
# repositories.sh DIST OUT [KEY] copies the Linux packages of a release in DIST to OUT/apt and OUT/yum, and writes the indexes by which
# apt and dnf find them. KEY, the id of a key of gpg, signs the indexes; its public part becomes omnigraph.asc. The time in the indexes is
# SOURCE_DATE_EPOCH. It needs dpkg-scanpackages (Debian's package dpkg-dev), createrepo_c and, with KEY, gpg.
set -euo pipefail
dist=$(realpath "$1")
mkdir -p "$2/apt" "$2/yum"
out=$(realpath "$2")
key=${3:-}
epoch=${SOURCE_DATE_EPOCH:-315532800}

cp -p "$dist"/*.deb "$out/apt"
cp -p "$dist"/*.rpm "$out/yum"
cd "$out/apt"
dpkg-scanpackages --multiversion . > Packages 2> scan.log || { cat scan.log >&2; exit 1; }
rm scan.log
gzip -9 --no-name --keep --force Packages
{
  printf 'Origin: Omnigraph\nLabel: Omnigraph\nArchitectures: amd64 arm64\nDate: %s\nSHA256:\n' "$(LC_ALL=C date -u -d "@$epoch" '+%a, %d %b %Y %T UTC')"
  for f in Packages Packages.gz; do
    printf ' %s %s %s\n' "$(sha256sum < "$f" | cut -d' ' -f1)" "$(stat -c %s "$f")" "$f"
  done
} > Release
cd "$out/yum"
createrepo_c --quiet --no-database --revision "$epoch" --set-timestamp-to-revision .

if [ -n "$key" ]; then
  gpg --batch --yes --armor --output "$out/omnigraph.asc" --export "$key"
  gpg --batch --yes --local-user "$key" --clearsign --output "$out/apt/InRelease" "$out/apt/Release"
  gpg --batch --yes --local-user "$key" --armor --detach-sign --output repodata/repomd.xml.asc repodata/repomd.xml
fi
