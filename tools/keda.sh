#!/usr/bin/env bash
# usage: keda.sh test|vet PACKAGE…
# Runs go in test/keda, where the client of external scalers is compiled out of KEDA's
# module: see test/keda/scalers/doc.go.
set -euo pipefail

cd "$(dirname "$0")/../test/keda"
export CGO_ENABLED=0
overlay=$(mktemp)
trap 'rm -f "$overlay"' EXIT
go mod download github.com/kedacore/keda/v2
client=$(go list -m -f '{{.Dir}}' github.com/kedacore/keda/v2)/pkg/scalers
cat > "$overlay" << END
{"Replace": {
  "$PWD/scalers/external_scaler.go": "$client/external_scaler.go",
  "$PWD/scalers/scaler.go": "$client/scaler.go"
}}
END
command=$1
shift
go "$command" -overlay "$overlay" "$@"
