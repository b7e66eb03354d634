// Package machine says what measurements were taken on.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Describe names the processor, their number, the system and the Go version.
func Describe() string {
	return fmt.Sprintf("%s, %d processors, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processor returns the name of the processor where the system tells it.
func processor() string {
	facts, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(facts)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
