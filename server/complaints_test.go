package server

import (
	"bytes"
	"log"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the HTTP server complains of is logged as all else is, but for what strangers fail at.
func TestComplaintsAreLogged(t *testing.T) {
	var out bytes.Buffer
	l := log.New(complaints{slog.New(slog.NewJSONHandler(&out, nil))}, "", 0)
	l.Print("http: TLS handshake error from 192.0.2.1:1: EOF")
	assert.Empty(t, out.String())
	l.Print("http: Accept error: too many open files; retrying")
	assert.Contains(t, out.String(), `"level":"ERROR","msg":"the HTTP server complains","error":"http: Accept error: too many open files; retrying"`)
}
