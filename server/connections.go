package server

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

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
	// probeTime is after how long of silence a client of gRPC is asked whether it is there,
	// answerTime how long it may take to say so, and leastProbe how often it may ask itself.
	probeTime, answerTime, leastProbe = time.Minute, 20 * time.Second, 10 * time.Second
	// unusedTime is how long a client of gRPC may keep a connection without calls.
	unusedTime = 15 * time.Minute
	// writeTime is how long a client may take to read writeBytes of an answer.
	writeTime, writeBytes = 30 * time.Second, 64 << 10
	// mostHeaderBytes and mostStreams are for a request, and for a connection.
	mostHeaderBytes, mostStreams = 64 << 10, 256
)

// counted is a listener that closes connections beyond so many at once as soon as they come.
type counted struct {
	net.Listener
	most func() int
	open atomic.Int64
}

// Accept implements [net.Listener].
func (l *counted) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= int64(l.most()) {
			return &countedConn{Conn: conn, leave: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		_ = conn.Close() // nothing was said on it
	}
}

type countedConn struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *countedConn) Close() error {
	c.leave()
	return c.Conn.Close()
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
