package app

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// version is set by the linker in builds from a checkout.
var version string

// Version is a line for people: version, LP engines, Go version and platform.
func Version() string {
	return fmt.Sprintf("poolwright %s (engines %s, %s, %s/%s)",
		release(), strings.Join(lp.Names(), " and "), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is the version alone.
func release() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
