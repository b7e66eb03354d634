// Package machine says what measurements were taken on, and what processes take of it.
package machine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
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

// Revision returns the commit that the program was built from, with "-dirty" where something
// was changed since, and "" where the program does not know.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// PeakMemory returns the most memory that a process has held, in bytes: VmHWM of Linux.
func PeakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); n == 1 {
			return kilobytes * 1024, nil
		}
	}
	return 0, errors.New("machine: the kernel says no peak of memory")
}

// ProcessorTime is what this process has used.
func ProcessorTime() time.Duration {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PageFaults is how many this process has had that needed no disk: mostly of memory that is new to it.
func PageFaults() int64 { return usage().Minflt }

func usage() (u syscall.Rusage) {
	// It can't fail for the process itself.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u
}

// FaultTime is what a page fault of memory that is new to the process takes by the clock, on one thread while no other has any: the mean of
// those of 4 MiB, in small pages or large ones.
func FaultTime() (time.Duration, error) {
	size := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, freshMemory, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 0, fmt.Errorf("machine: %w", err)
	}
	before, begin := PageFaults(), time.Now()
	for at := 0; at < len(memory); at += size {
		memory[at] = 1
	}
	took, faults := time.Since(begin), PageFaults()-before
	if err := syscall.Munmap(memory); err != nil {
		return 0, fmt.Errorf("machine: %w", err)
	}
	if faults == 0 {
		return 0, errors.New("machine: the kernel says no page faults")
	}
	return took / time.Duration(faults), nil
}

const freshMemory = 4 << 20

// StolenTime is what processes of this machine were ready to use of its processors, and the
// host gave to others, since the machine started: steal of Linux, 0 elsewhere.
func StolenTime() time.Duration {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0
	}
	return time.Duration(stat.CPUTotal.Steal * float64(time.Second))
}

// FixedWork is what a fixed piece of work takes of the processor, some 0.2 ms: numbers that are sorted, others each time, as a processor learns
// the branches of what it has just done. Neighbours that share a core may make everything take half as long again, for seconds or
// minutes, and stolen time does not tell of them.
func FixedWork() time.Duration {
	numbers := make([]int, fixedNumbers)
	for i := range numbers {
		numbers[i] = rand.Int()
	}
	begin := ProcessorTime()
	slices.Sort(numbers)
	return ProcessorTime() - begin
}

// fixedNumbers fit into the caches of a core.
const fixedNumbers = 4096
