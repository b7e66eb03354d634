package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	// handshakeTime is how long a client may take until its first request is known, or the
	// connection stands.
	handshakeTime = 10 * time.Second
	// requestTime is how long a client may take to send a request, idleTime how long it may
	// keep a connection that it does not use.
	requestTime, idleTime = time.Minute, 2 * time.Minute
	// probeTime is after how long of silence a client of HTTP/2 is asked whether it is there,
	// answerTime how long it may take to say so, and leastProbe how often one of gRPC may ask itself.
	probeTime, answerTime, leastProbe = time.Minute, 20 * time.Second, 10 * time.Second
	// unusedTime is how long a client of gRPC may keep a connection without calls.
	unusedTime = 15 * time.Minute
	// connectionTime is how long a client of gRPC may begin calls on a connection, and a stream may last. A
	// tenth more than that after the last call began the connection is closed: nobody leaves an answer unread
	// for longer.
	connectionTime = time.Hour
	// writeTime is how long a client may take to read writeBytes of an answer.
	writeTime, writeBytes = 30 * time.Second, 64 << 10
	// streamWindow is what a client may send of a request that is not read yet, and connWindow of all on a
	// connection. What grows by itself would let whole requests in that wait for room.
	streamWindow, connWindow = 64 << 10, 1 << 20
	// mostProbes are the connections of HTTP for probes when there are as many others as may be.
	mostProbes = 16
	// mostHeaderBytes and mostStreams are for a request, and for a connection of HTTP.
	mostHeaderBytes, mostStreams = 64 << 10, 256
)

// counted is a listener that takes so many connections at once. Beyond them it takes some
// for probes; for each that comes then, the one that came first ends.
type counted struct {
	net.Listener
	most   func() int
	probes int

	mu   sync.Mutex
	open int
	// beyond are the connections for probes, the first that came first.
	beyond []*countedConn
}

// Accept implements [net.Listener].
func (l *counted) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &countedConn{Conn: conn, listener: l}
		if ends := l.count(c); ends != nil {
			_ = ends.Close() // nobody waits for what it says
			if ends == c {
				continue
			}
		}
		return c, nil
	}
}

// count takes a connection in, and returns the one that has to end for that; nil = none.
func (l *counted) count(c *countedConn) (ends *countedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open < l.most() {
		l.open++
		return nil
	}
	c.probes = true
	if l.beyond = append(l.beyond, c); len(l.beyond) > l.probes {
		return l.beyond[0]
	}
	return nil
}

// leave lets a connection go.
func (l *counted) leave(c *countedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.probes {
		l.beyond = slices.DeleteFunc(l.beyond, func(other *countedConn) bool { return other == c })
	} else {
		l.open--
	}
}

type countedConn struct {
	net.Conn
	listener *counted
	probes   bool // it is beyond the others, for probes
	left     sync.Once
}

// Close implements [net.Conn].
func (c *countedConn) Close() error {
	c.left.Do(func() { c.listener.leave(c) })
	return c.Conn.Close()
}

type probesKey struct{}

// markProbes tells requests whether their connection is for probes.
func markProbes(ctx context.Context, conn net.Conn) context.Context {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if c, ok := conn.(*countedConn); ok && c.probes {
		return context.WithValue(ctx, probesKey{}, true)
	}
	return ctx
}

// roomForProbes answers nothing but probes on connections that are for them, and those once.
func roomForProbes(mux *http.ServeMux, next http.Handler, probes ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(probesKey{}) != nil {
			w.Header().Set("Connection", "close")
			if _, pattern := mux.Handler(r); !slices.Contains(probes, pattern) {
				refuse(w, r, retriable(codes.Unavailable, time.Second, "there are as many connections as may be"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// outer encrypts the connections of a gRPC server, but for those inside of the process.
type outer struct {
	credentials.TransportCredentials
}

// ServerHandshake implements [credentials.TransportCredentials].
func (o outer) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if conn.LocalAddr().Network() == innerNetwork {
		return insecure.NewCredentials().ServerHandshake(conn)
	}
	return o.TransportCredentials.ServerHandshake(conn)
}

// Clone implements [credentials.TransportCredentials].
func (o outer) Clone() credentials.TransportCredentials { return outer{o.TransportCredentials.Clone()} }

// patient gives clients time for each part of an answer, however long the whole is, and
// however long it takes until there is more.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := patientWriter{w, http.NewResponseController(w)}
		p.wait(0) // not for what was left of the request before
		next.ServeHTTP(p, r)
		p.wait(writeTime) // for what is left
	})
}

type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// wait sets how long the client may take from now on; 0 = any time.
func (w patientWriter) wait(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = w.control.SetWriteDeadline(until) // only a writer of a test has none
}

// Write implements [http.ResponseWriter].
func (w patientWriter) Write(p []byte) (written int, err error) {
	defer w.wait(0)
	for {
		part := p[:min(len(p), writeBytes)]
		w.wait(writeTime)
		n, err := w.ResponseWriter.Write(part)
		written += n
		if p = p[len(part):]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// Flush implements [http.Flusher].
func (w patientWriter) Flush() {
	defer w.wait(0)
	w.wait(writeTime)
	_ = w.control.Flush() // the client is gone when this fails
}

// Unwrap is for [http.ResponseController].
func (w patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// secure sets what keeps other sites and caches out. The pages have a policy of their own.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
