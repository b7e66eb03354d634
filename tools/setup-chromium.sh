#!/usr/bin/env bash
# Installs Chromium, which the tests of pages drive, by apt where that is possible.
set -euo pipefail

command -v chromium > /dev/null && exit 0
if ! why=$(tools/apt-install.sh chromium); then
  echo "setup: no Chromium, $why: the tests of pages need it" >&2
fi
