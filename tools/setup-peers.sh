#!/usr/bin/env bash
# Installs the solvers that the optimizer is compared with, CBC, GLPK and lp_solve, by
# apt where that is possible. Where it is not, comparisons are left out; that is no
# failure.
set -euo pipefail

command -v cbc > /dev/null && command -v glpsol > /dev/null && command -v lp_solve > /dev/null && exit 0
why=$(tools/apt-install.sh coinor-cbc glpk-utils lp-solve) ||
  echo "setup: not all of CBC, GLPK and lp_solve, $why: comparisons with other solvers are left out" >&2
