#!/usr/bin/env bash
# usage: apt-install.sh PACKAGE...
# Installs packages by apt. Where that is not possible it prints why on standard output, in
# a few words, and fails.
set -euo pipefail

fail() {
  echo "$1"
  exit 1
}

command -v apt-get > /dev/null || fail 'no apt-get to install it'
root=()
if [[ $(id -u) -ne 0 ]]; then
  sudo -n true 2> /dev/null || fail 'no right to install it'
  root=(sudo -n)
fi
install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@")
echo "setup: installing $*" >&2
"${install[@]}" > /dev/null 2>&1 < /dev/null && exit 0
# The lists of packages may be missing or old.
{ "${root[@]}" apt-get update -qq && "${install[@]}"; } > /dev/null < /dev/null || fail 'it could not be installed'
