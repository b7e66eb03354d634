package handbook

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Place is where a page is followed.
type Place struct {
	// Folder that the reader is in.
	Folder string
	// Env is the environment of commands; nil = that of the test.
	Env []string
	// Here pairs what pages say with what holds here, such as an address; in what is printed
	// it is put back.
	Here []string
	// First is what is typed before the page.
	First string
	// Patience with the commands of one block; 0 = a minute.
	Patience time.Duration
	// Update rewrites the outputs in the page that differ, in place of failing.
	Update bool
}

// Follow types every block of commands of a page into one shell. The test fails where a
// command fails without the page saying so, or prints what the page does not show. It
// returns the number of blocks.
func Follow(t testing.TB, page string, place Place) int {
	t.Helper()
	text, err := os.ReadFile(page) //nolint:gosec // a page of ours
	if err != nil {
		t.Fatal(err)
	}
	if place.Patience == 0 {
		place.Patience = time.Minute
	}
	s, err := open(t.Context(), place.Folder, place.Env)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}()
	steps := Steps(string(text))
	if _, ok := place.take(t, s, page, &Step{Commands: place.First}); !ok {
		return 0
	}
	lines := strings.SplitAfter(string(text), "\n")
	for _, step := range steps {
		output, ok := place.take(t, s, page, &step)
		if !ok {
			break // what follows builds on it
		}
		if step.Output == nil || step.Output.Shows(output) {
			continue
		}
		if !place.Update {
			t.Errorf("%s:%d: the page shows\n%s\nand this was printed\n%s", page, step.Output.Line, step.Output.Text, output)
			continue
		}
		// All of it goes behind the opening fence, so that the numbers of other lines stay.
		clear(lines[step.Output.Line : step.Output.Last-1])
		lines[step.Output.Line-1] += leading(step.Output.Text) + strings.TrimRight(output, "\n") + "\n"
	}
	if place.Update {
		if err := os.WriteFile(page, []byte(strings.Join(lines, "")), 0o600); err != nil { //nolint:gosec // a page of ours
			t.Fatal(err)
		}
	}
	return len(steps)
}

// leading is the line at the beginning of an output before which anything may be printed.
func leading(shown string) string {
	if strings.HasPrefix(shown, "…\n") {
		return "…\n"
	}
	return ""
}

// logged are lines that kubectl's libraries log as it happens, such as of a watch that kubectl has
// ended itself.
var logged = regexp.MustCompile(`(?m)^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.]+:\d+\] .*\n`)

// take does a step, and tells whether it went as the page says.
func (p *Place) take(t testing.TB, s *shell, page string, step *Step) (string, bool) {
	t.Helper()
	output, failed, err := s.run(strings.NewReplacer(p.Here...).Replace(step.Commands), p.Patience)
	back := make([]string, len(p.Here))
	for i := 0; i < len(back); i += 2 {
		back[i], back[i+1] = p.Here[i+1], p.Here[i]
	}
	output = strings.NewReplacer(back...).Replace(logged.ReplaceAllString(output, ""))
	if err != nil || failed != step.Exits {
		t.Errorf("%s:%d: %v, exits:%s, expected:%s\n%s%s", page, step.Line, err, failed, step.Exits, step.Commands, output)
		return "", false
	}
	return output, true
}
