#!/usr/bin/env bash
# Makes all packages and tries them in a bare Debian:  packages_test.sh ROOT
set -euo pipefail
unset CDPATH  # a user's own leads elsewhere
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root: no bare Debian can be made"; exit 77; }
NMT_DEB_COMPRESSION=zstd scripts/package.sh
scripts/try_packages.sh "$1"
