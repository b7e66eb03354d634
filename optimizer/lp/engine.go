package lp

import (
	"fmt"
	"strings"
)

// Default returns Clp where it is compiled in, else the pure Go simplex.
func Default() Engine {
	if engine, ok := Clp(); ok {
		return engine
	}
	return Simplex()
}

// ByName returns the engine with that name. The error of an unknown name lists
// the engines of this build.
func ByName(name string) (Engine, error) {
	engines := available()
	names := make([]string, len(engines))
	for i, engine := range engines {
		if engine.Name() == name {
			return engine, nil
		}
		names[i] = engine.Name()
	}
	return nil, fmt.Errorf("lp: no engine %q in this build; available: %s", name, strings.Join(names, ", "))
}

func available() []Engine {
	engines := []Engine{Simplex()}
	if clp, ok := Clp(); ok {
		engines = append(engines, clp)
	}
	return engines
}
