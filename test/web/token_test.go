package web

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A page that is refused asks for a token, and keeps it for the tab.
func TestTokenIsAskedFor(t *testing.T) {
	folder := t.TempDir()
	const token = "a-token-of-the-test"
	tokens, file := filepath.Join(folder, "tokens"), filepath.Join(folder, "server.yaml")
	require.NoError(t, os.WriteFile(tokens, []byte(token+",anna\n"), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("authentication: {tokenFile: "+tokens+"}\n"), 0o600))
	s := serve(t, "0", "--server-config", file)
	b := newTab(t)
	b.quiet.Store(true) // what is refused is on the console
	b.open(s.url + "/")
	b.do(chromedp.WaitVisible(chromedp.CSS("#token")))
	b.picture("token")
	b.fill("#token", "a-token-that-is-wrong")
	b.press("\r", 1)
	b.until(`document.getElementById('token-why')?.textContent.includes('does not know')`)
	b.fill("#token", token)
	b.press("\r", 1)
	b.until(`document.querySelector('` + chat + ` button') !== null`)
	assert.NotContains(t, value[string](b, `document.documentElement.outerHTML`), token)
	b.open(s.url + "/what-if")
	b.until(`document.getElementById('token') === null && sessionStorage.getItem('poolwright-token') === '` + token + `'`)
}
