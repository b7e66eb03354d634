#!/usr/bin/env bash
# Installs Prometheus, which the tests of metrics ask, by apt where that is possible.
# Where it is not, those tests fail and say so.
set -euo pipefail

command -v prometheus > /dev/null && exit 0

missing() {
  echo "setup-prometheus: $1: install prometheus, the tests of metrics need it" >&2
  exit 0
}

command -v apt-get > /dev/null || missing 'no apt-get'
root=()
if [[ $(id -u) -ne 0 ]]; then
  sudo -n true 2> /dev/null || missing 'no right to install it'
  root=(sudo -n)
fi
install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends prometheus)
echo 'setup-prometheus: installing prometheus' >&2
"${install[@]}" > /dev/null 2>&1 < /dev/null ||
  # The lists of packages may be missing or old.
  { "${root[@]}" apt-get update -qq && "${install[@]}"; } > /dev/null 2>&1 < /dev/null ||
  missing 'it could not be installed'
# The package starts a service, which the tests do not need.
if [[ -d /run/systemd/system ]]; then
  "${root[@]}" systemctl disable --quiet --now prometheus
fi
