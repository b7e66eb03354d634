package server

import (
	"net"
	"net/http"
	"net/http/pprof" // what it registers by itself is not served
	runtimepprof "runtime/pprof"
	"slices"
)

// profilePath is where profiles of the process are.
const (
	profilePath    = "/debug/pprof"
	profilePattern = "GET " + profilePath + "/"
)

// isProfile tells whether there is a profile of a name.
func isProfile(name string) bool {
	return runtimepprof.Lookup(name) != nil || slices.Contains([]string{"cmdline", "profile", "symbol", "trace"}, name)
}

// profiles shows profiles to callers that are known, once they were found to be allowed, and
// to those on the same machine, unless that may be a proxy which others come by.
func (g *guard) profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(profilePattern, pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := callerOf(r.Context()); !(ok && c.user.Known()) && (g.leaves() || !local(r.RemoteAddr)) {
			http.Error(w, "profiles are for callers that are known, and for this machine", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// local tells whether an address is of this machine.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && net.ParseIP(host).IsLoopback()
}
