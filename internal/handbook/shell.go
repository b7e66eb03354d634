package handbook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// shell is a bash that reads one step after the other.
type shell struct {
	process *exec.Cmd
	script  *os.File
	output  *os.File
	lines   *bufio.Reader
}

// mark ends the output of a step; the statuses of commands that failed follow it.
const mark = "\x01end of the step"

// prologue collects those statuses, and lets what is said as an error be read in its place.
const prologue = "exec 2>&1; failed=; trap 'failed+=\" $?\"' ERR\n"

// open starts a shell in a folder. Its commands come from a pipe of their own, as theirs is
// the standard input.
func open(ctx context.Context, folder string, env []string) (*shell, error) {
	script, scriptEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("handbook: %w", err)
	}
	output, outputEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("handbook: %w", err)
	}
	s := &shell{script: scriptEnd, output: output, lines: bufio.NewReader(output)}
	s.process = exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "/dev/fd/3")
	s.process.Dir, s.process.Env = folder, env
	s.process.Stdout, s.process.ExtraFiles = outputEnd, []*os.File{script}
	err = s.process.Start()
	if err := errors.Join(err, script.Close(), outputEnd.Close()); err != nil {
		return nil, fmt.Errorf("handbook: %w", err)
	}
	if _, err := scriptEnd.WriteString(prologue); err != nil {
		return nil, fmt.Errorf("handbook: %w", err)
	}
	return s, nil
}

// run types commands and returns what they print, and the statuses of those that fail, each
// after a space.
func (s *shell) run(commands string, patience time.Duration) (output, failed string, err error) {
	if err := s.output.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", "", fmt.Errorf("handbook: %w", err)
	}
	if _, err := fmt.Fprintf(s.script, "%s\nprintf '\\n%%s%%s\\n' '%s' \"$failed\"; failed=\n", commands, mark); err != nil {
		return "", "", fmt.Errorf("handbook: %w", err)
	}
	var printed strings.Builder
	for {
		line, err := s.lines.ReadString('\n')
		if statuses, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSuffix(printed.String(), "\n"), strings.TrimSuffix(statuses, "\n"), nil
		}
		printed.WriteString(line)
		if err != nil {
			return printed.String(), "", fmt.Errorf("handbook: the commands did not end: %w", err)
		}
	}
}

// close ends the shell and its jobs.
func (s *shell) close() error {
	_, err := s.script.WriteString("jobs -p | xargs -r kill 2> /dev/null\nwait\nexit 0\n")
	err = errors.Join(err, s.script.Close())
	go func() { _, _ = io.Copy(io.Discard, s.output) }() // ends with the last writer
	return errors.Join(err, s.process.Wait())
}
