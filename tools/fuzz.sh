#!/usr/bin/env bash
# usage: fuzz.sh TIME PARSERTIME
# Runs every fuzz target of the module for TIME, those of the packages that read
# input from outside for PARSERTIME.
set -euo pipefail

time=$1 parsertime=$2
parsers='/(internal/document|sources)$'

# `go test -list` prints the targets of a package and then the package.
targets=()
while read -r word package _; do
  case $word in
    Fuzz*) targets+=("$word") ;;
    ok)
      for target in "${targets[@]}"; do
        limit=$time
        if [[ $package =~ $parsers ]]; then limit=$parsertime; fi
        echo "fuzz: $package $target for $limit"
        # Making an interesting input smaller, a minute long by default, must not outlast the limit:
        # the run would end in "context deadline exceeded".
        CGO_ENABLED=0 go test -run '^$' -fuzz "^$target\$" -fuzztime "$limit" -fuzzminimizetime 1s "$package" < /dev/null
      done
      targets=()
      ;;
  esac
done < <(CGO_ENABLED=0 go test -list '^Fuzz' ./...)
