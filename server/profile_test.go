package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProfilesAreForThisMachine(t *testing.T) {
	for address, code := range map[string]int{
		"127.0.0.1:40000": http.StatusOK, "[::1]:40000": http.StatusOK,
		"10.1.2.3:40000": http.StatusForbidden, "[2001:db8::1]:40000": http.StatusForbidden, "": http.StatusForbidden,
	} {
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline"} {
			request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			request.RemoteAddr = address
			answer := httptest.NewRecorder()
			profiles().ServeHTTP(answer, request)
			assert.Equal(t, code, answer.Code, "%s %s", address, path)
		}
	}
}
