#!/usr/bin/env bash
# Compares the API with that of the last release, which is the newest tag v* that
# this commit follows. Before the first release everything may change.
# BREAKING_BASE names another commit to compare with.
set -euo pipefail

base=${BREAKING_BASE:-$(git describe --tags --match 'v[0-9]*' --abbrev=0 2> /dev/null || true)}
if [[ -z $base ]]; then
  echo 'breaking: no release yet, so there is nothing that may not change'
  exit 0
fi
old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
git archive "$base" buf.yaml proto third_party | tar -x -C "$old"
echo "breaking: comparing with $base"
buf breaking --against "$old"
