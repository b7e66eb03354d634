#!/usr/bin/env bash
# Installs Prometheus, which the tests of metrics ask, by apt where that is possible.
# Where it is not, those tests fail and say so.
set -euo pipefail

command -v prometheus > /dev/null && exit 0
if ! why=$(tools/apt-install.sh prometheus); then
  echo "setup: no Prometheus, $why: the tests of metrics need it" >&2
  exit 0
fi
# The package starts a service, which the tests do not need.
if [[ -d /run/systemd/system ]]; then
  root=()
  if [[ $(id -u) -ne 0 ]]; then root=(sudo -n); fi
  "${root[@]}" systemctl disable --quiet --now prometheus
fi
