#!/usr/bin/env bash
# Installs COIN-OR Clp, pkg-config and curl by apt where that is possible. Where it
# is not, the build without cgo is used, which plans the same; that is no failure.
set -euo pipefail

pure() {
  echo "setup: $1: using the build without cgo" >&2
  exit 0
}

command -v go > /dev/null || { echo 'setup: Go 1.26 is needed: https://go.dev/dl' >&2; exit 1; }
pkg-config --exists clp 2> /dev/null && command -v curl > /dev/null && exit 0
command -v gcc > /dev/null || pure 'no gcc'
why=$(tools/apt-install.sh coinor-libclp-dev pkg-config curl) || pure "no Clp, $why"
