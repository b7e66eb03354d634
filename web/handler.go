package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

func pages() []page {
	return []page{
		{"/", "fleet", "Fleet", "Fleet"},
		{"/what-if", "what-if", "What-if", "What-if"},
		{"/simulate", "simulate", "Simulate", "Simulate"},
	}
}

// policy is the Content-Security-Policy of every page: what it loads and asks is its own.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the pages, at / and beside it.
func Handler() (http.Handler, error) {
	served := map[string]*content{}
	for _, p := range pages() {
		var out bytes.Buffer
		if err := layout(p.Name, &out, document{page: p, Pages: pages()}); err != nil {
			return nil, err
		}
		served[p.Path] = newContent(out.Bytes(), ".html")
	}
	var report bytes.Buffer // for pages to put a result into
	if err := Report(&report, "Simulation", []byte("{}")); err != nil {
		return nil, err
	}
	served["/report.html"] = newContent(report.Bytes(), ".html")
	for _, folder := range []string{"assets", "third_party/uplot"} {
		entries, err := fs.ReadDir(files, folder)
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		for _, e := range entries {
			data, err := files.ReadFile(path.Join(folder, e.Name()))
			if err != nil {
				return nil, fmt.Errorf("web: %w", err)
			}
			served["/"+e.Name()] = newContent(data, path.Ext(e.Name()))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		c, ok := served[r.URL.Path]
		switch {
		case !ok:
			http.Error(w, "there is no such page; the pages begin at /", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, r.Method+" is not allowed here: use GET", http.StatusMethodNotAllowed)
		default:
			c.serve(w, r)
		}
	}), nil
}

// secure sets what keeps other sites out of the pages.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// content is a file as it is sent.
type content struct {
	contentType, tag string
	plain, zipped    []byte
}

func newContent(data []byte, extension string) *content {
	sum := sha256.Sum256(data)
	c := &content{
		contentType: map[string]string{
			".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
			".js": "text/javascript; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml",
		}[extension],
		tag:   `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		plain: data,
	}
	if c.contentType == "" {
		c.contentType = "text/plain; charset=utf-8"
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	c.zipped = out.Bytes()
	return c
}

// serve sends the content, unless the browser has it. Browsers ask each time: a new version of
// the program is seen at once, and what has not changed is not sent again.
func (c *content) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", c.tag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), c.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data := c.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = c.zipped
	}
	h.Set("Content-Type", c.contentType)
	_, _ = w.Write(data) // the client is gone when this fails
}
