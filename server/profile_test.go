package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/access"
)

func TestProfilesAreForThisMachine(t *testing.T) {
	for _, insecure := range []bool{false, true} {
		a, err := access.New(access.Config{Insecure: insecure}, nil)
		require.NoError(t, err)
		shown := newGuard(a, nil, nil).profiles()
		for address, code := range map[string]int{
			"127.0.0.1:40000": http.StatusOK, "[::1]:40000": http.StatusOK,
			"10.1.2.3:40000": http.StatusForbidden, "[2001:db8::1]:40000": http.StatusForbidden, "": http.StatusForbidden,
		} {
			if insecure {
				code = http.StatusForbidden // it may be a proxy
			}
			for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline"} {
				request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
				request.RemoteAddr = address
				answer := httptest.NewRecorder()
				shown.ServeHTTP(answer, request)
				assert.Equal(t, code, answer.Code, "%s %s", address, path)
			}
		}
	}
}
