package app

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
)

// memoryLimit is the variable of the environment with the limit on the memory of the container, in
// bytes.
const memoryLimit = "MEMORY_LIMIT"

// memoryShare of it is what the garbage collector aims at: the rest is for what it does not count,
// and for what is allocated while it runs.
const memoryShare = 0.9

// heedMemory has the garbage collector keep below the limit of the container, unless GOMEMLIMIT says
// what to aim at.
func heedMemory() error {
	text, ok := os.LookupEnv(memoryLimit)
	if _, said := os.LookupEnv("GOMEMLIMIT"); said || !ok {
		return nil
	}
	bytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil || bytes <= 0 {
		return &InputError{fmt.Errorf("%s=%s: expected a number of bytes", memoryLimit, text)}
	}
	debug.SetMemoryLimit(int64(memoryShare * float64(bytes)))
	return nil
}
