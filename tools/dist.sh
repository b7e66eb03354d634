#!/usr/bin/env bash
# usage: dist.sh VERSION FOLDER
# Makes what a release consists of, in an empty FOLDER: an archive for each platform with the
# program, its licence and those of what it contains, a list of that for scanners (CycloneDX),
# the chart, and the checksums of all. Equal trees give equal bits: times are those of the
# commit, or SOURCE_DATE_EPOCH.
set -euo pipefail

version=$1 folder=$2
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$folder"
mkdir -p "$folder"

# pack FILE FOLDER NAME: an archive of FOLDER/NAME that does not depend on where and when.
pack() {
  tar -c -C "$2" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' "$3" | gzip -n -9 > "$1"
}

# licences: those of all modules that the program for a platform contains, and of Go itself.
# A module without a licence is a mistake.
licences() {
  go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/poolwright | sort -u | {
    printf '%s %s\n' "$(go env GOVERSION)" "$(go env GOROOT)"
    cat
  } | while read -r module dir; do
    mapfile -t files < <(find "$dir" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'patents*' \) | sort)
    if ((${#files[@]} == 0)); then
      echo "dist: $module has no licence" >&2
      return 1
    fi
    for file in "${files[@]}"; do
      printf '==== %s: %s\n\n' "$module" "$(basename "$file")"
      cat "$file"
      echo
    done
  done
  for file in web/third_party/*/LICENSE*; do
    printf '==== %s\n\n' "$file"
    cat "$file"
    echo
  done
}

for arch in amd64 arm64; do
  name=poolwright-${version#v}-linux-$arch
  export GOOS=linux GOARCH=$arch CGO_ENABLED=0
  mkdir "$work/$name"
  make --silent build HAVE_CLP=false VERSION="$version" BIN="$work/$name/"
  licences > "$work/$name/THIRD-PARTY-LICENSES"
  cp LICENSE README.md CHANGELOG.md "$work/$name"
  pack "$folder/$name.tar.gz" "$work" "$name"
  cyclonedx-gomod bin -json -noserial -std -version "$version" "$work/$name/poolwright" 2> "$work/complaints" > "$work/contents" ||
    { cat "$work/complaints" >&2; exit 1; }
  sed "s/^    \"timestamp\": .*/    \"timestamp\": \"$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)\",/" "$work/contents" > "$folder/$name.cdx.json"
done

# Charts have versions of three numbers; a commit without a tag before it has none.
chart=${version#v}
[[ $chart =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || chart=0.0.0-g$chart
helm package deploy/chart/poolwright --version "$chart" --app-version "${version#v}" --destination "$work" > /dev/null 2> "$work/complaints" ||
  { cat "$work/complaints" >&2; exit 1; }
mkdir "$work/chart"
tar -xz -C "$work/chart" -f "$work/poolwright-$chart.tgz"
pack "$folder/poolwright-$chart.tgz" "$work/chart" poolwright

(cd "$folder" && sha256sum -- * > SHA256SUMS)
cat "$folder/SHA256SUMS"
