package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkProcess times whole processes, from start to exit, beside the bare start of
// the program. Evaluate does all that optimize does but solving. The time on the
// processor, cpu-ms/op, stays the same on a busy machine.
func BenchmarkProcess(b *testing.B) {
	examples := filepath.Join("..", "..", "examples")
	binary := build(b, ".")
	large := filepath.Join(b.TempDir(), "generated-10000.json")
	fleet, err := exec.CommandContext(b.Context(), build(b, "../../examples/generate"), "-workloads", "10000").Output() //nolint:gosec // runs what was built
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(large, fleet, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{
		{"version"},
		{"optimize", "-f", filepath.Join(examples, "mix.yaml")},
		{"optimize", "-f", filepath.Join(examples, "generated-1000.json")},
		{"evaluate", "-f", large, "-o", "table"},
		{"evaluate", "-f", large, "-o", "json"},
		{"optimize", "-f", large, "-o", "table"},
		{"optimize", "-f", large, "-o", "json"},
	} {
		b.Run(caseName(args), func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				process := exec.CommandContext(b.Context(), binary, args...) //nolint:gosec // runs this program
				// The fleet as it stands leaves demand unmet.
				if err := process.Run(); err != nil && process.ProcessState.ExitCode() != exitUnmet {
					b.Fatal(err)
				}
				cpu += process.ProcessState.UserTime() + process.ProcessState.SystemTime()
			}
			b.ReportMetric(cpu.Seconds()*1e3/float64(b.N), "cpu-ms/op")
		})
	}
}

// build builds a program of this module.
func build(b *testing.B, folder string) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "program")
	command := exec.CommandContext(b.Context(), "go", "build", "-o", binary, folder) //nolint:gosec // builds this module
	if out, err := command.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// caseName is the command, the file and the format.
func caseName(args []string) string {
	name := args[0]
	for _, a := range args[1:] {
		if !strings.HasPrefix(a, "-") {
			a = filepath.Base(a)
			name += "/" + strings.TrimSuffix(a, filepath.Ext(a))
		}
	}
	return name
}
