#!/usr/bin/env bash
# usage: first-run.sh BINARY
# What a new user does first: start the service, send it an example by curl and by
# grpcurl, as the README says, and get the same plan from both and from the command
# line.
set -euo pipefail

binary=$1
fleet=examples/mix.json
http=127.0.0.1:${HTTP_PORT:-18080} grpc=127.0.0.1:${GRPC_PORT:-19090}
out=$(mktemp -d)
"$binary" serve --http-address "$http" --grpc-address "$grpc" --interval 200ms --speed 36000 > "$out/serve" &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; rm -rf "$out"' EXIT

curl --silent --show-error --retry 50 --retry-delay 1 --retry-connrefused "http://$http/readyz" > /dev/null
curl --silent --show-error --fail "http://$http/v1/optimize" -d @"$fleet" > "$out/rest"
grpcurl -plaintext -emit-defaults -d @ "$grpc" poolwright.v1.OptimizerService/Optimize < "$fleet" > "$out/grpc"
"$binary" optimize -f "$fleet" -o json > "$out/command"

# The same numbers and words; only white space, the digits of exponents and the null that
# grpcurl writes for an absent message may differ.
plain() { tr -d ' \n' < "$1" | sed 's/e-0/e-/g; s/,"[A-Za-z]*":null//g'; }
for answer in grpc command; do
  if [[ $(plain "$out/rest") != "$(plain "$out/$answer")" ]]; then
    echo "first-run: REST and $answer differ" >&2
    diff "$out/rest" "$out/$answer" >&2
    exit 1
  fi
done
grep -q '"proof": "OPTIMAL"' "$out/rest"

# The first plan as a table with the URLs, then a new plan as demand moves.
for _ in $(seq 100); do
  if grep -q ' → ' "$out/serve"; then break; fi
  read -rt 0.1 <> <(:) || true
done
grep -q 'REST .*http' "$out/serve"
curl --silent --show-error --fail "$(awk '$1 == "page" { print $2 }' "$out/serve")" | grep -q '<title>Fleet'
grep -q ' → ' "$out/serve"

# What the pages about the loop and about simulations tell people to type.
grep -h '^curl ' docs/api.md docs/what-if.md | sed "s#localhost:8080#$http#; s#^curl#curl --fail-with-body#" > "$out/commands"
while read -r command; do
  if ! bash -c "$command" < /dev/null > "$out/answer" || [[ ! -s $out/answer ]]; then
    echo "first-run: docs: $command" >&2
    cat "$out/answer" >&2
    exit 1
  fi
done < "$out/commands"
[[ -s $out/commands ]]

kill -TERM "$server"
wait "$server" # a graceful end is exit code 0
echo 'first-run: REST, gRPC and command line gave the same plan, and the loop answered'
