#!/usr/bin/env bash
# Runs make targets one after the other, saying which and how long each took.
set -euo pipefail

for step in "$@"; do
  echo "== $step"
  start=$SECONDS
  "${MAKE:-make}" --no-print-directory "$step"
  echo "== $step: $((SECONDS - start)) s"
done
