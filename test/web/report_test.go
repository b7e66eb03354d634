package web

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/report"
)

// reported opens the report of a day, from disk.
func reported(t *testing.T) tab {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.HTML(&out, day()))
	name := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(name, out.Bytes(), 0o600))
	t.Logf("the report has %.1f MB", float64(out.Len())/1e6)
	b := newTab(t)
	b.open("file://" + name)
	b.drawn()
	return b
}

// drawn waits for charts.
func (b tab) drawn() {
	b.t.Helper()
	b.until(`document.querySelectorAll('#report canvas').length > 0`)
}

func TestReportShowsTotals(t *testing.T) {
	b := reported(t)
	assert.Contains(t, b.text(".lead"), "poolwright did so for the least")
	totals := b.text(`[aria-label="Totals by autoscaler"]`)
	assert.Regexp(t, `poolwright\s+met, cheapest\s+[\d,.]+ ± [\d.]+`, totals)
	assert.Regexp(t, `static peak\s+missed`, totals)
	assert.Contains(t, totals, "of interactive", "what becomes of each service class")
	b.seen()
	b.pictures("report")
}

// seen looks at all of the page, so that all charts are drawn.
func (b tab) seen() {
	b.t.Helper()
	value[chromedp.Void](b, `(async () => {
		for (const plot of document.querySelectorAll('.plot')) {
			plot.scrollIntoView();
			while (plot.checkVisibility() && !plot.querySelector('canvas')) await new Promise(requestAnimationFrame);
		}
		scrollTo(0, 0);
	})()`)
}

// chart is the description of one.
func chart(title string) string {
	return `[...document.querySelectorAll('.plot')].find((p) => p.ariaLabel.startsWith('` + title + `,'))`
}

func TestReportComparesWhatIsChosen(t *testing.T) {
	b := reported(t)
	first := value[string](b, chart("Time to first token")+`.ariaLabel`)
	assert.Contains(t, first, "hpa queue")
	b.click(`.controls .legend button:nth-child(2)`)
	assert.Equal(t, "false", value[string](b, `document.querySelector('.controls .legend button:nth-child(2)').ariaPressed`))
	assert.NotContains(t, value[string](b, chart("Time to first token")+`.ariaLabel`), "hpa queue")
	assert.True(t, value[bool](b, chart("hpa queue")+`.closest('figure').hidden`), "its devices too")

	b.do(chromedp.Focus(chromedp.CSS(`.controls select`)))
	b.press("b", 1) // batch/summaries
	b.until(chart("Time to first token") + `.ariaLabel !== ` + quoted(first))
	assert.Equal(t, "batch/summaries", value[string](b, `document.querySelector('.controls select').value`))
	assert.NotContains(t, value[string](b, chart("Time to first token")+`.ariaLabel`), "hpa queue", "what is hidden stays so")
}

func TestReportZooms(t *testing.T) {
	b := reported(t)
	const table = `document.querySelectorAll('.chart .data')[0]`
	b.click(".chart .data summary")
	b.until(table + `.querySelectorAll('tbody tr').length === 48`)
	assert.Contains(t, value[string](b, table+`.textContent`), "Means over 30 windows")
	assert.Equal(t, "00:00", value[string](b, table+`.querySelector('tbody th').textContent`))

	b.click(`[aria-label="Zoom in"]`)
	b.until(table + `.querySelector('tbody th').textContent === '06:00'`)
	b.click(`[aria-label="Earlier"]`)
	b.until(table + `.querySelector('tbody th').textContent === '00:00'`)

	// By dragging over a chart, in all of them.
	box := value[[]float64](b, `(() => { const {x, y, width, height} = document.querySelector('.u-over').getBoundingClientRect(); return [x, y, width, height]; })()`)
	middle := box[1] + box[3]/2
	b.do(chromedp.DragAndDropXY(box[0]+box[2]/4, middle, box[0]+box[2]/2, middle))
	b.until(`/^0[23]:/.test(` + table + `.querySelector('tbody th').textContent)`)
	b.picture("report-zoomed")
	b.click(`.toolbar button:last-child`)
	b.until(table + `.querySelector('tbody th').textContent === '00:00'`)
}

func TestReportNamesValuesAtTheMouse(t *testing.T) {
	b := reported(t)
	b.do(chromedp.ScrollIntoView(chromedp.CSS(".plot")))
	box := value[[]float64](b, `(() => { const {x, y, width, height} = document.querySelector('.u-over').getBoundingClientRect(); return [x, y, width, height]; })()`)
	b.do(chromedp.MouseEvent("mouseMoved", box[0]+box[2]/2, box[1]+box[3]/2))
	b.until(`!document.querySelector('.tip').hidden`)
	assert.Regexp(t, `^1[12]:\d\d`, b.text(".tip"))
	assert.Contains(t, b.text(".tip"), "static peak")
	b.picture("report-values")
}

func TestThemeIsKept(t *testing.T) {
	b := reported(t)
	b.theme("light")
	const page = `getComputedStyle(document.body).backgroundColor`
	light := value[string](b, page)
	b.do(chromedp.Focus(chromedp.CSS("#theme")))
	b.press("D", 1)
	b.until(page + ` !== ` + quoted(light))
	b.do(chromedp.Reload())
	b.drawn()
	assert.NotEqual(t, light, value[string](b, page))
	assert.Equal(t, "dark", value[string](b, `document.getElementById('theme').value`))
	b.press("\t", 1)
	assert.Equal(t, "Skip to content", value[string](b, `document.activeElement.textContent`), "the keyboard begins there")
}
