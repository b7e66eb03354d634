package web

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long anything that a page does may take.
const patience = time.Minute

// tab is one tab of a Chromium of its own.
type tab struct {
	t   *testing.T
	ctx context.Context
	// quiet leaves out what the browser complains about by itself, of services that are gone and
	// answers that say no; what scripts and policies complain about always counts.
	quiet *atomic.Bool
}

type action = chromedp.Action[chromedp.Void]

// newTab starts Chromium. What a page complains about on its console, its own policy
// included, fails the test.
func newTab(t *testing.T) tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	allocator, end := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(end)
	ctx, leave := chromedp.NewContext(allocator)
	b := tab{t, ctx, &atomic.Bool{}}
	b.do(chromedp.EmulateViewport(1280, 900))
	done := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			if b.quiet.Load() && strings.HasPrefix(m.Text, "Failed to load resource") {
				continue
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException {
				assert.Fail(t, "the page complained", "%s", m.Text)
			}
		}
	}()
	t.Cleanup(func() {
		leave()
		<-done
	})
	return b
}

func (b tab) do(actions ...action) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...))
}

// value evaluates an expression in the page.
func value[T any](b tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	return v
}

// until waits for an expression to be true in the page.
func (b tab) until(expression string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression))
	require.NoError(b.t, err, expression)
}

// theme is what the system prefers.
func (b tab) theme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	require.NoError(b.t, err)
}

// pictures keeps what the page looks like in both themes, on a desk and in a hand.
func (b tab) pictures(name string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		b.picture(name + "-" + theme)
	}
	b.do(chromedp.EmulateViewport(400, 800))
	assert.LessOrEqual(b.t, value[int](b, `document.documentElement.scrollWidth`), 400, "nothing is wider than a small screen")
	b.picture(name + "-dark-small")
	b.do(chromedp.EmulateViewport(1280, 900))
	b.theme("light")
}

// picture keeps what the page looks like from top to bottom.
func (b tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("POOLWRIGHT_SCREENSHOTS")
	if folder == "" {
		folder = b.t.TempDir()
	}
	require.NoError(b.t, os.MkdirAll(folder, 0o750))
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600))
}

// open opens a page.
func (b tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// click clicks with the mouse.
func (b tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// fill types over what stands in a field.
func (b tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)))
	value[chromedp.Void](b, `document.activeElement.select()`)
	b.do(chromedp.KeyEvent(text))
}

// press presses a key some times.
func (b tab) press(key string, times int) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(strings.Repeat(key, times)))
}

// text is what an element shows.
func (b tab) text(selector string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS(selector)))
	require.NoError(b.t, err, selector)
	return text
}

// insert puts text where the cursor is, as pasting does.
func insert(text string) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
}

// number writes a number for an expression.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// quoted writes a text for an expression.
func quoted(text string) string { return strconv.Quote(text) }
