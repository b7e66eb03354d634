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
command -v apt-get > /dev/null || pure 'no Clp and no apt-get to install it'

root=()
if [[ $(id -u) -ne 0 ]]; then
  sudo -n true 2> /dev/null || pure 'no Clp and no right to install it'
  root=(sudo -n)
fi
install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends coinor-libclp-dev pkg-config curl)
echo 'setup: installing coinor-libclp-dev, pkg-config and curl' >&2
"${install[@]}" > /dev/null 2>&1 < /dev/null && exit 0
# The lists of packages may be missing or old.
{ "${root[@]}" apt-get update -qq && "${install[@]}"; } > /dev/null < /dev/null || pure 'Clp could not be installed'
