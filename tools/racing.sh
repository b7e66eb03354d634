#!/usr/bin/env bash
# usage: racing.sh [go list's flags]
# Lists the packages in which there can be races: those of whose code, that of their tests or of what
# they import some starts goroutines, lets others do so, or serves HTTP. What is left out only computes.
set -euo pipefail

starting=$(git grep --untracked -lE '^\s*go (func|[[:alpha:]])|\.Go\(|AfterFunc\(|AddCleanup\(|t\.Parallel\(\)' -- '*.go' ':!benchmarks' ':!tools' | xargs -n 1 dirname | sort -u)
go list "$@" -f '{{.ImportPath}} {{.ImportPath}} {{join .Deps " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
  awk -v folders="$starting" -v module="$(go list -m)" '
    BEGIN { n = split(folders, list, "\n"); for (i = 1; i <= n; i++) starts[module "/" list[i]]; starts["net/http"] }
    { for (i = 2; i <= NF; i++) if ($i in starts) { print $1; next } }'
