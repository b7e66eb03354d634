#!/usr/bin/env bash
# usage: fuzz.sh TIME PARSERTIME
# Runs every fuzz target of the module for TIME, those of the packages that read
# input from outside for PARSERTIME.
set -euo pipefail

time=$1 parsertime=$2
parsers='/(controller/ledger|internal/document|metrics|sources)$'
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# ran_out TARGET PACKAGE: the log of a failed run tells of no failure but that time was up.
# Until Go 1.27 the engine now and then takes the end of -fuzztime for an error
# (https://go.dev/issue/75804). A failing input, a crash or a hang prints more below "--- FAIL".
ran_out() {
  local line failure
  printf -v line '%s\n' "--- FAIL: $1 \([0-9.]+s\)" '    context deadline exceeded' 'FAIL' 'exit status 1'
  failure=$(sed -n '/^--- FAIL/,$p' "$log")
  [[ $failure =~ ^${line}FAIL$'\t'"$2"$'\t'[0-9.]+s$ ]]
}

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
        if ! CGO_ENABLED=0 go test -run '^$' -fuzz "^$target\$" -fuzztime "$limit" -fuzzminimizetime 1s "$package" < /dev/null 2>&1 |
          tee "$log"; then
          ran_out "$target" "$package" || exit 1
          echo "fuzz: the engine ran out of time, and found nothing"
        fi
      done
      targets=()
      ;;
  esac
done < <(CGO_ENABLED=0 go test -list '^Fuzz' ./...)
