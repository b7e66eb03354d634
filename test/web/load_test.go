package web

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostLoad is how long the processor may be at work on a page until it is drawn. On a machine at
// rest that is about the time that passes; on one that is not, only this says something of the page.
const mostLoad = time.Second

// work is for how long the processor was at work on the page while a function ran.
func (b tab) work(name string, load func()) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	require.NoError(b.t, err)
	before, began := b.worked(), time.Now()
	load()
	worked := b.worked()
	// A page that is loaded again may get another process, which counts anew.
	if worked >= before {
		worked -= before
	}
	b.t.Logf("%s: %d ms of work in %d ms", name, worked.Milliseconds(), time.Since(began).Milliseconds())
	assert.Positive(b.t, worked, name)
	assert.Less(b.t, worked, mostLoad, name)
}

func (b tab) worked() time.Duration {
	b.t.Helper()
	all, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	require.NoError(b.t, err)
	for _, m := range all.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	require.Fail(b.t, "Chromium does not measure TaskDuration")
	return 0
}

func TestReportOfADayIsDrawnWithinASecond(t *testing.T) {
	b := reported(t)
	b.work("report", func() {
		b.do(chromedp.Reload())
		b.until(`performance.getEntriesByName('ready').length > 0`)
	})
	t.Logf("drawn %.0f ms after it was opened", value[float64](b, `performance.getEntriesByName('ready')[0].startTime`))
}

func TestSimulateDrawsADayWithinASecond(t *testing.T) {
	url, s := simulating(t)
	close(s.end)
	b := newTab(t)
	b.open(url + "/simulate")
	b.until(`document.getElementById('text').value !== ''`)
	b.work("result", func() {
		b.click("#run")
		b.drawn()
	})
}

func TestPagesLoadWithinASecond(t *testing.T) {
	url := serve(t, "0").url
	b := newTab(t)
	for path, drawn := range map[string]string{
		"/": `document.querySelector('#workloads tbody tr')`, "/what-if": `document.querySelector('#results table')`, "/simulate": `document.querySelector('#autoscalers input')`,
	} {
		b.open(url + path)
		b.work(path, func() {
			b.do(chromedp.Reload())
			b.until(drawn + ` !== null`)
		})
	}
}
