//go:build linux

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs is the folder that `make controlplane` builds into. The Makefile knows it, as
// its name has the versions of everything in it.
func programs() (string, error) {
	gomod, err := exec.Command("go", "env", "GOMOD").Output() //nolint:noctx // takes no time
	if err != nil {
		return "", fmt.Errorf("controlplane: find the repository: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	out, err := exec.Command("make", "-s", "--no-print-directory", "-C", root, "controlplane-folder").Output() //nolint:gosec,noctx // the repository's own Makefile
	if err != nil {
		return "", fmt.Errorf("controlplane: ask the Makefile for the folder of the programs: %w", err)
	}
	folder := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(folder, ".done")); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("controlplane: %s is not built: run 'make controlplane'", folder)
	} else if err != nil {
		return "", fmt.Errorf("controlplane: %w", err)
	}
	return folder, nil
}

// prometheus is the program of the system.
func prometheus() (string, error) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		return "", fmt.Errorf("controlplane: run 'make setup-prometheus' (Debian: apt-get install prometheus): %w", err)
	}
	return program, nil
}
