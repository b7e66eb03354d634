package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkProcess times whole processes, from start to exit: a plan beside the
// bare start of the program.
func BenchmarkProcess(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "poolwright")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", binary, ".") //nolint:gosec // builds this program
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	examples := filepath.Join("..", "..", "examples")
	for name, args := range map[string][]string{
		"version":                 {"version"},
		"optimize/mix":            {"optimize", "-f", filepath.Join(examples, "mix.yaml")},
		"optimize/generated-1000": {"optimize", "-f", filepath.Join(examples, "generated-1000.json")},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := exec.CommandContext(b.Context(), binary, args...).Run(); err != nil { //nolint:gosec // runs this program
					b.Fatal(err)
				}
			}
		})
	}
}
