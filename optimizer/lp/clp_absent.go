//go:build !(cgo && clp)

package lp

// Clp returns the COIN-OR Clp engine, and false in a build without it.
func Clp() (Engine, bool) { return nil, false }
