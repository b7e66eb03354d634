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

// written writes the report of a day, and returns its address.
func written(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.HTML(&out, day()))
	name := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(name, out.Bytes(), 0o600))
	t.Logf("the report has %.1f MB", float64(out.Len())/1e6)
	return "file://" + name
}

// mostLoad is how long a page may take until it is drawn, in milliseconds.
const mostLoad = 1000

func TestReportOfADay(t *testing.T) {
	b := open(t)
	b.do(chromedp.Navigate(written(t)))
	b.until(`performance.getEntriesByName('ready').length > 0 && document.querySelectorAll('canvas').length > 0`)
	ready := value[float64](b, `performance.getEntriesByName('ready')[0].startTime`)
	t.Logf("drawn after %.0f ms", ready)
	assert.Less(t, ready, float64(mostLoad))
	b.pictures("report")
}
