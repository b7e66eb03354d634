#!/usr/bin/env bash
# usage: builds.sh VERSION
# Builds the program without and, where Clp is installed, with cgo: here and in a
# copy of the tree elsewhere. Each pair must be equal and must start.
set -euo pipefail

flags=(-trimpath -buildvcs=false -ldflags="-s -w -X github.com/poolwright/poolwright/internal/app.version=$1")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/tree"
git ls-files -co --exclude-standard -z | tar -c --null --ignore-failed-read -T - 2> /dev/null | tar -x -C "$out/tree"

both() { # CGO_ENABLED TAGS
  CGO_ENABLED=$1 go build "${flags[@]}" -tags "$2" -o "$out/here" ./cmd/poolwright
  CGO_ENABLED=$1 go -C "$out/tree" build "${flags[@]}" -tags "$2" -o "$out/there" ./cmd/poolwright
  cmp "$out/here" "$out/there"
  "$out/here" version
}

both 0 ''
if pkg-config --exists clp 2> /dev/null; then
  both 1 clp
fi
