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
	v := version
	if v == "" {
		v = "unknown"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
			v = info.Main.Version
		}
	}
	return fmt.Sprintf("poolwright %s (engines %s, %s, %s/%s)", v, strings.Join(lp.Names(), " and "), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
