package web

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long anything that a page does may take.
const patience = time.Minute

// tab is one tab of a Chromium of its own.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp's handle of a tab
}

type action = chromedp.Action[chromedp.Void]

// open starts Chromium. What a page complains about on its console, its own policy
// included, fails the test.
func open(t *testing.T) tab {
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
	b := tab{t, ctx}
	b.do(chromedp.EmulateViewport(1280, 900))
	done := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException {
				assert.Fail(t, "the page complained", "%s\n%s", m.Text, m.Stack)
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
