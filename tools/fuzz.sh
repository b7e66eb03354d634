#!/usr/bin/env bash
# usage: fuzz.sh parsers|all TIME
# Runs fuzz targets for TIME each, as many at once as there are processors: those of
# the packages that read input from outside, or all of the module. (The seeds of every
# target are run by `go test` as well.)
set -euo pipefail

which=$1 time=$2
parsers='/(config|internal/access|controller/ledger|internal/document|metrics|simulation/(sweep|trace)|sources)$'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ran_out TARGET PACKAGE LOG: the log of a failed run tells of no failure but that time was up.
# Until Go 1.27 the engine now and then takes the end of -fuzztime for an error
# (https://go.dev/issue/75804). A failing input, a crash or a hang prints more below "--- FAIL".
ran_out() {
  local line failure
  printf -v line '%s\n' "--- FAIL: $1 \([0-9.]+s\)" '    context deadline exceeded' 'FAIL' 'exit status 1'
  failure=$(sed -n '/^--- FAIL/,$p' "$3")
  [[ $failure =~ ^${line}FAIL$'\t'"$2"$'\t'[0-9.]+s$ ]]
}

# fuzz TARGET PACKAGE: fails when the target does; prints once it is done.
fuzz() {
  local log=$work/$1.${2//\//.}
  # Making an interesting input smaller, a minute long by default, must not outlast the limit:
  # the run would end in "context deadline exceeded".
  if CGO_ENABLED=0 go test -run '^$' -fuzz "^$1\$" -fuzztime "$time" -fuzzminimizetime 1s -parallel 1 "$2" < /dev/null > "$log" 2>&1; then
    echo "fuzz: $2 $1 for $time: $(grep -o 'execs: [0-9]*' "$log" | tail -1)"
  elif ran_out "$1" "$2" "$log"; then
    echo "fuzz: $2 $1: the engine ran out of time, and found nothing"
  else
    echo "fuzz: $2 $1 fails:"
    cat "$log"
    # The input itself, for where only what is printed outlives the run.
    sed -n 's/^ *Failing input written to //p' "$log" | (cd "$(go list -f '{{.Dir}}' "$2")" && xargs -r cat)
    return 1
  fi
}
export -f fuzz ran_out
export time work

# `go test -list` prints the targets of a package and then the package.
targets=()
while read -r word package _; do
  case $word in
    Fuzz*) targets+=("$word") ;;
    ok)
      for target in "${targets[@]}"; do
        if [[ $which == all || $package =~ $parsers ]]; then printf '%s %s\n' "$target" "$package"; fi
      done
      targets=()
      ;;
  esac
done < <(CGO_ENABLED=0 go test -list '^Fuzz' ./...) |
  xargs -P "$(nproc)" -L 1 bash -euo pipefail -c 'fuzz "$0" "$1"'
