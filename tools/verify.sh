#!/usr/bin/env bash
# Generates into an empty folder and fails on any difference from the tree, files
# that nothing generates any more included.
set -euo pipefail

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

validate=third_party/protovalidate/buf/validate/validate.proto
mkdir -p "$fresh/$(dirname $validate)"
go -C tools run ./validateproto > "$fresh/$validate"
buf generate --output "$fresh"
buf generate --template buf.gen.keda.yaml --output "$fresh"

generated() {
  (cd "$1" && find proto third_party -name '*.pb.go' -o -name '*.pb.gw.go' -o -name '*.swagger.json' -o -path $validate | sort)
}
outdated=0
diff -u --label committed --label generated <(generated .) <(generated "$fresh") || outdated=1
while read -r file; do
  cmp --silent "$file" "$fresh/$file" || { echo "$file is out of date"; outdated=1; }
done < <(generated "$fresh")
if ((outdated)); then
  echo "verify: run 'make generate' and commit the result" >&2
  exit 1
fi
