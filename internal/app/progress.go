package app

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	terminal "golang.org/x/term"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// progress tells people how far something is. What it cannot write is nobody's loss.
type progress interface {
	// at tells the share that is done, in [0, 1], and more about it.
	at(done float64, text string)
	// end takes away what the answer would get mixed up with.
	end()
}

// newProgress draws a bar on a terminal, and writes lines elsewhere.
func newProgress(w io.Writer) progress {
	if f, ok := w.(*os.File); ok && terminal.IsTerminal(int(f.Fd())) {
		return newBar(w, barInterval)
	}
	return &lines{w: w, last: time.Now(), every: lineInterval}
}

const (
	barInterval  = 100 * time.Millisecond
	lineInterval = 10 * time.Second
	// barSteps are those that a bar has from its beginning to its end.
	barSteps = 1000
)

type bar struct{ *progressbar.ProgressBar }

func newBar(w io.Writer, every time.Duration) bar {
	return bar{progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), // the time left is in the text
		progressbar.OptionThrottle(every), progressbar.OptionShowDescriptionAtLineEnd())}
}

func (b bar) at(done float64, text string) {
	b.Describe(text)
	_ = b.Set(min(int(done*barSteps), barSteps-1)) // it ends by end
}

func (b bar) end() { _ = b.Clear() }

// lines are for logs: one now and then, and none of what is done before.
type lines struct {
	w     io.Writer
	last  time.Time
	every time.Duration
}

func (l *lines) at(done float64, text string) {
	if now := time.Now(); now.Sub(l.last) >= l.every {
		l.last = now
		_, _ = fmt.Fprintf(l.w, "%.0f %%: %s\n", 100*done, text)
	}
}

func (l *lines) end() {}

// runsText says how far a simulation is.
func runsText(m *poolwrightv1.SimulationProgress) string {
	s := fmt.Sprintf("%d of %d runs, %s requests", m.GetRunsDone(), m.GetRuns(), thousands(m.GetRequests()))
	if m.GetRemaining() != nil {
		s += fmt.Sprintf(", %s left", m.GetRemaining().AsDuration().Round(time.Second))
	}
	return s
}

// thousands writes a number of things in a fitting unit.
func thousands(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f thousand", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
