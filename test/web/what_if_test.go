package web

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	price      = `Number(document.querySelector('#results dd')?.textContent.replaceAll(',', ''))`
	settled    = `document.getElementById('explanation').ariaBusy === 'false'`
	h100Price  = `[data-path="pools[0].pricePerHour"]`
	h100Number = `[data-path="pools[0].capacity"]`
	a100Number = `[data-path="pools[1].capacity"]`
)

// planned opens the page with the fleet of a file, and waits for its plan.
func planned(t *testing.T, file string) tab {
	t.Helper()
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/what-if")
	b.until(price + ` > 0`)
	name, err := filepath.Abs(file)
	require.NoError(t, err)
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{name}))
	b.until(`document.getElementById('source').textContent === '` + filepath.Base(file) + `' && ` + settled)
	return b
}

func TestWhatIfPlansWhatIsChanged(t *testing.T) {
	b := planned(t, "../../examples/mix.yaml")
	before := value[float64](b, price)
	b.seen()
	b.pictures("what-if")

	b.fill(h100Price, "7.8")
	b.until(price + ` > ` + number(before))
	dear := value[float64](b, price)
	assert.Contains(t, b.text("#results"), "+", "the change against the unchanged fleet")

	b.do(chromedp.Focus(chromedp.CSS(`#factor`)))
	b.press(kb.ArrowRight, 4)
	assert.Equal(t, "120 %", b.text(".slider output"))
	b.until(price + ` > ` + number(dear))

	b.click("#reset")
	b.until(price + ` === ` + number(before))
}

func TestWhatIfSaysWhatIsMissing(t *testing.T) {
	b := planned(t, "../../examples/mix.yaml")
	b.fill(h100Number, "4")
	b.until(`/Shadow price\/h\s+h100\s+4\s+4\s+\d/.test(document.getElementById('results').innerText)`)
	b.picture("what-if-shadow-price")
	b.fill(h100Number, "8")
	b.fill(a100Number, "4")
	b.until(`document.querySelector('#results').textContent.includes('partly served') && document.querySelector('#explanation').textContent.includes('What would serve all')`)
	assert.Contains(t, b.text("#results"), "pool/", "what binds")
	b.seen()
	b.pictures("what-if-short")
}

func TestWhatIfShowsMistakesAtTheirFields(t *testing.T) {
	b := planned(t, "../../examples/mix.yaml")
	b.quiet.Store(true) // the browser complains about answers with status 400
	b.fill(h100Price, "-1")
	b.until(`document.querySelector('` + h100Price + `').getAttribute('aria-invalid') === 'true'`)
	described := `document.getElementById(document.querySelector('` + h100Price + `').getAttribute('aria-describedby')).textContent`
	assert.Contains(t, value[string](b, described), "greater than or equal to 0")
	assert.True(t, value[bool](b, `document.getElementById('problem').hidden`))
	b.picture("what-if-mistake")
	b.fill(h100Price, "3.9")
	b.until(`document.querySelector('` + h100Price + `').getAttribute('aria-invalid') === null`)
	b.until(price + ` > 0`)

	b.click("#document summary")
	b.until(`document.getElementById('text').value !== ''`)
	b.fill("#text", `{"pools": [{"accelerator": "H100", "capacity": "many"}]}`)
	b.click("#apply")
	b.until(`!document.getElementById('problem').hidden`)
	assert.Contains(t, b.text("#problem"), "pools[0].capacity: expected a whole number")
}

func TestWhatIfTakesText(t *testing.T) {
	b := planned(t, "../../examples/mix.yaml")
	text, err := os.ReadFile("../../examples/single-type.yaml")
	require.NoError(t, err)
	b.click("#document summary")
	b.until(`document.getElementById('text').value !== ''`)
	value[chromedp.Void](b, `document.getElementById('text').select()`)
	b.do(chromedp.Focus(chromedp.CSS("#text")), insert(string(text)))
	b.click("#apply")
	b.until(`document.getElementById('source').textContent === 'as written'`)
	b.until(`document.querySelectorAll('#inputs fieldset').length !== 3`)
	b.open(value[string](b, `location.origin`) + "/simulate")
	b.open(value[string](b, `location.origin`) + "/what-if")
	b.until(`document.getElementById('source').textContent === 'as written'`)
}
