package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

const chat = `tr[data-key="prod/chat"]`

func TestFleetFollowsTheLoop(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`document.querySelectorAll('#pools .pool').length === 2 && document.querySelectorAll('#workloads tbody tr').length === 3`)
	b.until(`document.getElementById('connection').textContent === 'live'`)
	assert.Contains(t, b.text(chat), "llama-3.1-8b")
	assert.Regexp(t, `\d ms`, b.text(chat+" td:nth-of-type(3)"), "predicted latency")

	b.until(`Number(/decision (\d+)/.exec(document.getElementById('clock').textContent)?.[1]) >= 6`)
	b.until(`document.querySelectorAll('#history canvas').length === 2`)
	b.pictures("fleet")

	b.fill("#filter", "70b")
	b.until(`document.querySelectorAll('#workloads tbody tr').length === 1`)
	assert.Contains(t, b.text("#workloads tbody"), "prod/assistant")
	b.fill("#filter", "no such")
	b.until(`document.querySelector('#workloads .empty') !== null`)
}

func TestFleetShowsHowADecisionCameAbout(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`[...document.querySelectorAll('.decision')].some((d) => !d.hidden)`)
	b.click(".decision:not([hidden]) summary")
	b.until(`document.querySelector('.decision[open] [aria-label^="Trail"] tbody')?.textContent.includes('solve')`)
	assert.Contains(t, b.text(".decision[open] .body"), "→")
	b.picture("decision")

	hidden := `[...document.querySelectorAll('.decision')].filter((d) => d.hidden).length`
	b.until(hidden + ` > 0`)
	b.click("#changes")
	assert.Zero(t, value[int](b, hidden), "all are shown")
}

func TestFleetHoldsAWorkload(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`document.querySelector('` + chat + ` button') !== null`)
	b.click(chat + " button")
	b.do(chromedp.WaitVisible(chromedp.CSS("#pause")))
	b.click("#pause button[type=submit]")
	assert.True(t, value[bool](b, `document.getElementById('pause').open`), "a reason is required")
	b.fill("#pause-reason", "incident 12")
	b.picture("pause")
	b.click("#pause button[type=submit]")
	b.until(`document.querySelector('` + chat + `').textContent.includes('incident 12')`)
	assert.Equal(t, "Resume", b.text(chat+" button"))
	assert.Contains(t, get(t, s.url+"/v1/fleet"), `"reason": "incident 12"`)

	b.do(chromedp.Focus(chromedp.CSS(chat + " button")))
	b.press("\r", 1)
	b.do(chromedp.WaitVisible(chromedp.CSS("#resume")))
	b.click("#resume button[type=submit]")
	b.until(`!document.querySelector('` + chat + `').textContent.includes('incident 12')`)
	assert.NotContains(t, get(t, s.url+"/v1/fleet"), "incident 12")
}

func TestFleetFindsTheServiceAgain(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.quiet.Store(true) // a service that is gone is complained about by the browser
	b.open(s.url + "/")
	b.until(`document.getElementById('connection').textContent === 'live'`)
	decision := `Number(/decision (\d+)/.exec(document.getElementById('clock').textContent)[1])`
	b.until(decision + ` >= 8`)
	s.stop()
	b.until(`document.getElementById('connection').textContent === 'reconnecting'`)
	b.picture("reconnecting")
	serve(t, s.port(), "--interval", "1h", "--speed", "1")
	b.until(`document.getElementById('connection').textContent === 'live'`)
	b.until(decision + ` === 1 && document.getElementById('problem').hidden`)
}
