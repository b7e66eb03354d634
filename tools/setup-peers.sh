#!/usr/bin/env bash
# Installs the solvers that the optimizer is compared with, CBC, GLPK and lp_solve, by
# apt where that is possible. Where it is not, comparisons are left out; that is no
# failure.
set -euo pipefail

command -v cbc > /dev/null && command -v glpsol > /dev/null && command -v lp_solve > /dev/null && exit 0

left_out() {
  echo "setup-peers: $1: comparisons with other solvers are left out" >&2
  exit 0
}

command -v apt-get > /dev/null || left_out 'no apt-get to install CBC, GLPK and lp_solve'
root=()
if [[ $(id -u) -ne 0 ]]; then
  sudo -n true 2> /dev/null || left_out 'no right to install CBC, GLPK and lp_solve'
  root=(sudo -n)
fi
install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends coinor-cbc glpk-utils lp-solve)
echo 'setup-peers: installing coinor-cbc, glpk-utils and lp-solve' >&2
"${install[@]}" > /dev/null 2>&1 < /dev/null && exit 0
# The lists of packages may be missing or old.
{ "${root[@]}" apt-get update -qq && "${install[@]}"; } > /dev/null 2>&1 < /dev/null ||
  left_out 'CBC, GLPK and lp_solve could not be installed'
