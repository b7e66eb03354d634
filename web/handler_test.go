package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ask asks the pages, with pairs of header fields and their values.
func ask(t *testing.T, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := Handler()
	require.NoError(t, err)
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(data)
}

func TestPages(t *testing.T) {
	inline := regexp.MustCompile(`<script[^>]*>[^<]|<style|<[a-z][^>]* (?:style|on[a-z]+)=`)
	loaded := regexp.MustCompile(`(?:src|href)="(/[^"]*)"`)
	for _, p := range pages() {
		response := ask(t, http.MethodGet, p.Path)
		require.Equal(t, http.StatusOK, response.Code, p.Path)
		assert.Equal(t, policy, response.Header().Get("Content-Security-Policy"))
		assert.Equal(t, "nosniff", response.Header().Get("X-Content-Type-Options"))
		page := text(t, response.Body)
		assert.NotRegexp(t, inline, page, "%s: the policy allows neither script nor style in a page", p.Path)
		assert.Contains(t, page, `<a href="`+p.Path+`" aria-current="page">`)
		for _, m := range loaded.FindAllStringSubmatch(page, -1) {
			assert.Equal(t, http.StatusOK, ask(t, http.MethodGet, m[1]).Code, m[1])
		}
	}
}

// Modules name others by paths beside them.
func TestModulesFindOneAnother(t *testing.T) {
	imported := regexp.MustCompile(`from '\.(/[^']+)'`)
	for _, p := range pages() {
		for _, m := range imported.FindAllStringSubmatch(text(t, ask(t, http.MethodGet, "/"+p.Name+".js").Body), -1) {
			assert.Equal(t, http.StatusOK, ask(t, http.MethodGet, m[1]).Code, m[1])
		}
	}
}

func TestPagesAreSentOnce(t *testing.T) {
	first := ask(t, http.MethodGet, "/style.css")
	tag := first.Header().Get("ETag")
	require.NotEmpty(t, tag)
	again := ask(t, http.MethodGet, "/style.css", "If-None-Match", tag)
	assert.Equal(t, http.StatusNotModified, again.Code)
	assert.Empty(t, text(t, again.Body))
	other := ask(t, http.MethodGet, "/style.css", "If-None-Match", `"of another version"`)
	assert.Equal(t, http.StatusOK, other.Code)
}

func TestPagesAreSentSmall(t *testing.T) {
	plain := text(t, ask(t, http.MethodGet, "/style.css").Body)
	response := ask(t, http.MethodGet, "/style.css", "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzip", response.Header().Get("Content-Encoding"))
	z, err := gzip.NewReader(response.Body)
	require.NoError(t, err)
	assert.Equal(t, plain, text(t, z))
}

func TestPagesAreOnlyRead(t *testing.T) {
	assert.Equal(t, http.StatusNotFound, ask(t, http.MethodGet, "/nothing").Code)
	response := ask(t, http.MethodPost, "/")
	assert.Equal(t, http.StatusMethodNotAllowed, response.Code)
	assert.Equal(t, "GET, HEAD", response.Header().Get("Allow"))
}
