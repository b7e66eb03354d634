package lp

import (
	"fmt"
	"strings"
)

// ByName returns the engine with that name. The error of an unknown name lists
// the engines of this build.
func ByName(name string) (Engine, error) {
	for _, engine := range available() {
		if engine.Name() == name {
			return engine, nil
		}
	}
	return nil, fmt.Errorf("lp: no engine %q in this build; available: %s", name, strings.Join(Names(), ", "))
}

// Names are those of the engines of this build, the pure Go one first.
func Names() []string {
	var names []string
	for _, engine := range available() {
		names = append(names, engine.Name())
	}
	return names
}

func available() []Engine {
	engines := []Engine{Simplex()}
	if clp, ok := Clp(); ok {
		engines = append(engines, clp)
	}
	return engines
}
