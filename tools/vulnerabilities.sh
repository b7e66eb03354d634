#!/usr/bin/env bash
# Looks for known vulnerabilities in what the program calls, by govulncheck. Where their database
# cannot be reached it says so, and fails at nothing.
set -euo pipefail

version=v1.8.0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

GOBIN=$folder go install "golang.org/x/vuln/cmd/govulncheck@$version"
code=0
CGO_ENABLED=0 "$folder/govulncheck" ./... > "$folder/out" 2>&1 || code=$?
if [[ $code -ne 0 && $code -ne 3 ]] && grep -qE 'fetching vulnerabilities|dial tcp|no such host|Forbidden|proxyconnect' "$folder/out"; then
  echo 'vulnerabilities: their database cannot be reached from here:'
  tail -n 1 "$folder/out"
  exit 0
fi
cat "$folder/out"
exit "$code"
