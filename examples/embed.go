package examples

import _ "embed"

// Mix is mix.yaml, a fleet of three model sizes on H100 and A100 pools, in the
// format of fleet files. It is what `poolwright serve` runs when nothing else is
// configured. Callers must not modify it.
//
//go:embed mix.yaml
var Mix []byte

// Day is day.yaml, a simulation of a day of three workloads whose requests are drawn at
// random. Callers must not modify it.
//
//go:embed day.yaml
var Day []byte
