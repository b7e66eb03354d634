#!/usr/bin/env bash
# usage: axe.sh FOLDER
# Fetches axe-core, which looks for what people with disabilities cannot use, from npm into a
# folder where that is possible, and prints the path of its file. Nothing is printed where it is not.
set -euo pipefail

version=4.14.1
digest=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
folder=$1/axe-$version
if [[ ! -f $folder/axe.min.js ]]; then
  command -v npm > /dev/null || exit 0
  mkdir -p "$folder"
  (cd "$folder" && npm pack --silent "axe-core@$version" > /dev/null && tar -xzf axe-core-*.tgz --strip-components 1 package/axe.min.js package/LICENSE && rm axe-core-*.tgz) || exit 0
  if ! sha256sum --check --status <<< "$digest  $folder/axe.min.js"; then
    echo "axe: axe-core $version is not what it was" >&2
    rm -r "$folder"
    exit 1
  fi
fi
echo "$folder/axe.min.js"
