//go:build axe

package web

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// accessible checks a page as it is, in both themes, by all rules that axe-core has.
func (b tab) accessible(name string) {
	b.t.Helper()
	script, err := os.ReadFile(os.Getenv("POOLWRIGHT_AXE"))
	require.NoError(b.t, err, "POOLWRIGHT_AXE names the file axe.min.js")
	value[chromedp.Void](b, string(script)+";undefined")
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		found := value[[]violation](b, `axe.run({runOnly: {type: 'tag', values: [
			'wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}}).then((r) => r.violations.map(
			({id, help, nodes}) => ({ID: id, Help: help, Nodes: nodes.map((n) => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`)
		var words strings.Builder
		for _, v := range found {
			fmt.Fprintf(&words, "%s: %s\n", v.ID, v.Help)
			for _, n := range v.Nodes {
				fmt.Fprintf(&words, "  %s\n  %s\n", n.HTML, n.FailureSummary)
			}
		}
		assert.Empty(b.t, found, "%s, %s theme:\n%s", name, theme, words.String())
	}
}

// focus walks through a page by the tabulator key, and checks that each place is seen: it has an
// outline, on the screen.
func (b tab) focus(name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); scrollTo(0, 0)`))
	const most = 40
	seen := 0
	for range most {
		b.press("\t", 1)
		at := value[struct {
			Name    string
			Visible bool
		}](b, `(() => {
			const e = document.activeElement, box = (e.closest('.file') ?? e).getBoundingClientRect(), style = getComputedStyle(e.closest('.file') ?? e);
			return {Name: e === document.body ? '' : e.tagName + ' ' + (e.ariaLabel ?? e.textContent).slice(0, 40),
				Visible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight};
		})()`)
		if at.Name == "" {
			break
		}
		seen++
		assert.True(b.t, at.Visible, "%s: the focus on %s is not seen", name, at.Name)
	}
	assert.GreaterOrEqual(b.t, seen, 5, "%s: the keyboard reaches what is there", name)
}

func TestReportIsAccessible(t *testing.T) {
	b := reported(t)
	b.seen()
	b.click(".chart .data summary")
	b.accessible("report")
	b.focus("report")
}

func TestFleetIsAccessible(t *testing.T) {
	s := serve(t, "0", "--interval", "1h", "--speed", "1")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`document.querySelectorAll('#workloads tbody tr').length === 3`)
	b.click(chat + " summary")
	b.accessible("fleet")
	b.focus("fleet")
	b.click(chat + " button")
	b.accessible("pause")
	b.press("\x1b", 1) // escape
	b.until(`!document.getElementById('pause').open`)
	assert.Equal(t, "Pause prod/chat", value[string](b, `document.activeElement.ariaLabel`), "the focus is where it was")
}

func TestWhatIfIsAccessible(t *testing.T) {
	b := planned(t, "../../examples/mix.yaml")
	b.click("#document summary")
	b.accessible("what-if")
	b.focus("what-if")
	b.quiet.Store(true)
	b.fill(h100Price, "-1")
	b.until(`document.querySelector('` + h100Price + `').ariaInvalid === 'true'`)
	b.accessible("what-if with a mistake")
}

func TestSimulateIsAccessible(t *testing.T) {
	b := simulated(t)
	b.accessible("simulate")
	b.focus("simulate")
}
