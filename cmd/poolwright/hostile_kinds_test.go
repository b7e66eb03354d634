package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/proto/externalscaler"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func kinds() []kind {
	return []kind{
		{"without a token", 20, (*attacker).withoutToken},
		{"a wrong token", 20, (*attacker).wrongToken},
		{"another namespace", 10, (*attacker).otherNamespace},
		{"another identity", 10, (*attacker).otherIdentity},
		{"malformed text", 20, (*attacker).malformedText},
		{"aliases", 2, (*attacker).aliases},
		{"too large", 2, (*attacker).tooLarge},
		{"random paths", 10, (*attacker).randomPath},
		{"from another site", 5, (*attacker).fromAnotherSite},
		{"another method", 5, (*attacker).otherMethod},
		{"many headers", 1, (*attacker).manyHeaders},
		{"compressed bodies", 1, (*attacker).compressedBody},
		{"broken HTTP", 1, (*attacker).brokenHTTP},
		{"no encryption", 1, (*attacker).noEncryption},
		{"wrong certificates", 1, (*attacker).wrongCertificate},
		{"slow bodies", 1, (*attacker).slowBody},
		{"gRPC without a token", 20, (*attacker).grpcWithoutToken},
		{"gRPC about another namespace", 10, (*attacker).grpcOtherNamespace},
		{"malformed messages", 20, (*attacker).malformedMessage},
		{"odd gRPC", 2, (*attacker).oddGRPC},
		{"large metadata", 2, (*attacker).largeMetadata},
		{"resets", 1, (*attacker).resets},
		{"broken HTTP/2", 1, (*attacker).brokenFrames},
	}
}

// answered is what REST answers with to who may ask.
func (a *attacker) guardedPath() (method, path string) {
	path = pick(a, "/v1/fleet", "/v1/decisions", "/v1/decisions:watch", "/v1/optimize", "/v1/explain", "/v1/simulate", "/v1/calibrate",
		"/v1/workloads/a/chat:pause", "/metrics", "/openapi.json", "/read/fleet")
	if strings.HasPrefix(path, "/v1/fleet") || strings.HasPrefix(path, "/v1/decisions") || path == "/metrics" || path == "/openapi.json" {
		return http.MethodGet, path
	}
	return http.MethodPost, path
}

func (a *attacker) withoutToken() (int64, error) {
	method, path := a.guardedPath()
	return a.request(method, path, "", "application/json", a.some([]byte(fleetFile)), http.StatusUnauthorized)
}

// some is a body now and then: whoever is refused with one has to connect anew.
func (a *attacker) some(body []byte) []byte {
	if a.random.IntN(8) == 0 {
		return body
	}
	return nil
}

// forged are tokens that nobody was given, some of forms that mean something, or that have expired.
func (a *attacker) forged() string {
	random := base64.RawURLEncoding.EncodeToString(a.bytes(60))
	return pick(a, random, strings.ToUpper(adminToken), adminToken+"x", adminToken[:len(adminToken)-1], "", "admin",
		"poolwright-peer."+random, a.peer(time.Now().Add(-2*time.Minute)), a.peer(time.Now())+"A", "x"+a.peer(time.Now()),
		"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", strings.Repeat("x", 8000))
}

func (a *attacker) wrongToken() (int64, error) {
	method, path := a.guardedPath()
	return a.request(method, path, a.forged(), "application/json", a.some([]byte(`{}`)), http.StatusUnauthorized)
}

func (a *attacker) otherNamespace() (int64, error) {
	path := pick(a, "/v1/workloads/b/chat-of-others:pause", "/v1/workloads/b/chat-of-others:resume", "/v1/workloads/b/none:pause", "/v1/workloads/B/chat:resume")
	if a.random.IntN(2) == 0 {
		return a.request(http.MethodGet, "/v1/decisions?workload=b/chat-of-others", annaToken, "", nil, http.StatusForbidden)
	}
	return a.request(http.MethodPost, path, annaToken, "application/json", []byte(`{"reason": "mine"}`), http.StatusForbidden, http.StatusBadRequest)
}

// otherIdentity says it is somebody else, by headers that others believe.
func (a *attacker) otherIdentity() (int64, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+a.http+"/v1/fleet", http.NoBody)
	if err != nil {
		return 0, err
	}
	name := pick(a, "Poolwright-Caller-Bin", "Grpc-Metadata-Poolwright-Caller-Bin", "X-Remote-User", "Impersonate-User", "Grpc-Metadata-Authorization", "X-Forwarded-Client-Cert")
	request.Header.Set(name, pick(a, `{"Name":"admin"}`, "eyJOYW1lIjoiYWRtaW4ifQ", "Bearer "+adminToken, "admin"))
	want := http.StatusUnauthorized
	if a.random.IntN(2) == 0 {
		request.Header.Set("Authorization", "Bearer "+plannerToken)
		want = http.StatusForbidden
	}
	return a.send(request, want)
}

// malformedText is sent by somebody who may plan.
func (a *attacker) malformedText() (int64, error) {
	depth := 1 + a.random.IntN(20_000)
	text := pick(a,
		func() string { return string(a.bytes(2000)) },
		func() string { return strings.Repeat("[", depth) },
		func() string { return strings.Repeat(`{"a":`, depth/4) },
		func() string { return `{"pools":[` + strings.Repeat("[", depth) },
		func() string {
			return `{"workloads":[{"load":{"arrivalRate":` + pick(a, "1e999", "-1e308", "NaN", strings.Repeat("9", 400), "1e-400x") + `}}]}`
		},
		func() string {
			return `{"pools":[{"capacity":` + pick(a, "99999999999999999999", "-1", "1.5", "1e400", `"x"`) + `}]}`
		},
		func() string { return "pools: [&a [*a]]" },
		func() string { return "a: &a [x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]" },
		func() string { return `{"pools":[` + strings.Repeat("{},", 100+a.random.IntN(10_000)) + "{}]}" },
		func() string { return fleetFile[:1+a.random.IntN(len(fleetFile)-40)] + "{[" },
		func() string { return "\xef\xbb\xbf\x00{}" },
		func() string { return `{"` + strings.Repeat("x", depth) + `": 1}` },
	)()
	path := pick(a, "/v1/optimize", "/v1/explain", "/v1/evaluate", "/v1/capacity", "/v1/calibrate", "/v1/simulate")
	kind := pick(a, "application/json", "application/yaml", "application/xml", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded", "", "\x7f")
	return a.request(http.MethodPost, path, plannerToken, kind, []byte(text), http.StatusBadRequest)
}

// aliases make little text much, which is a fleet all the same.
func (a *attacker) aliases() (int64, error) {
	many := 50 + a.random.IntN(50)
	var text strings.Builder
	text.WriteString("pools: [{name: h100, accelerator: H100}]\nworkloads:\n- {name: w, load: {arrivalRate: 5}, variants: &all [")
	for i := range many {
		fmt.Fprintf(&text, "{name: v%d, accelerator: H100, capacityRps: 7}, ", i)
	}
	text.WriteString("]}\n")
	for i := range many {
		fmt.Fprintf(&text, "- {name: w%d, load: {arrivalRate: 5}, variants: *all}\n", i)
	}
	return a.request(http.MethodPost, pick(a, "/v1/capacity", "/v1/evaluate"), plannerToken, "application/yaml", []byte(text.String()), http.StatusBadRequest)
}

func (a *attacker) tooLarge() (int64, error) {
	body := bytes.Repeat([]byte(pick(a, " ", "{", "[{}", "x")), 66_000)
	return a.request(http.MethodPost, "/v1/optimize", plannerToken, "application/json", body, http.StatusRequestEntityTooLarge, http.StatusBadRequest)
}

func (a *attacker) randomPath() (int64, error) {
	path := pick(a, "/v1/", "/v1/fleet/../", "/debug/pprof/", "/.git/", "/../../etc/", "//", "/metrics/", "/v1/workloads/", "/%2e%2e/") + url.PathEscape(string(a.bytes(40)))
	method := pick(a, "GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "X")
	return a.request(method, path, pick(a, "", plannerToken, a.forged()), "", nil)
}

func (a *attacker) fromAnotherSite() (int64, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://"+a.http+"/v1/workloads/a/chat:pause", strings.NewReader(`{"reason": "x"}`))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+annaToken)
	request.Header.Set("Origin", "https://evil.example.com")
	if a.random.IntN(2) == 0 {
		request.Header.Set("Sec-Fetch-Site", pick(a, "cross-site", "same-site"))
	}
	return a.send(request, http.StatusForbidden)
}

// dial connects to one of the ports, with a limit of time for all that follows.
func (a *attacker) dial(protocol string) (*tls.Conn, error) {
	address := a.victim.http
	if protocol == "h2" && a.random.IntN(2) == 0 {
		address = a.grpc
	}
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: a.authority.Pool(), NextProtos: []string{protocol}}}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), conn.SetDeadline(time.Now().Add(20 * time.Second))
}

func (a *attacker) noEncryption() (int64, error) {
	conn, err := net.DialTimeout("tcp", pick(a, a.victim.http, a.grpc), 20*time.Second)
	if err != nil {
		return 1, nil
	}
	defer conn.Close() //nolint:errcheck // of the test
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = conn.Write([]byte(pick(a, "GET /v1/fleet HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+adminToken+"\r\n\r\n", http2.ClientPreface, string(a.bytes(200)), "\x16\x03\x01\xff\xff")))
	_ = conn.(*net.TCPConn).CloseWrite()
	text, _ := io.ReadAll(conn)
	if bytes.Contains(text, []byte("200 OK")) || bytes.Contains(text, []byte("chat")) {
		return 1, fmt.Errorf("the answer is %.200q", text)
	}
	return 1, nil
}

func (a *attacker) wrongCertificate() (int64, error) {
	config := &tls.Config{RootCAs: a.authority.Pool(), NextProtos: []string{"http/1.1"}}
	address, hello := a.victim.http, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	if a.random.IntN(2) == 0 {
		address, hello, config.NextProtos = a.grpc, http2.ClientPreface, []string{"h2"}
	}
	if shown := pick(a, &a.strange.Certificate, &a.expired.Certificate, nil); shown != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return shown, nil }
	} else {
		config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(context.Background(), "tcp", address)
	if err != nil {
		return 1, nil
	}
	defer conn.Close() //nolint:errcheck // of the test
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = conn.Write([]byte(hello))
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		return 1, fmt.Errorf("%s answers with %d bytes", address, n)
	}
	return 1, nil
}

// slowBody sends the beginning of a request and leaves; who may not ask, or by no such method, is answered
// all the same, once the headers are there.
func (a *attacker) slowBody() (int64, error) {
	conn, err := a.dial("http/1.1")
	if err != nil {
		return 1, nil
	}
	defer conn.Close() //nolint:errcheck // of the test
	token := pick(a, "", a.forged(), plannerToken)
	if a.random.IntN(4) == 0 {
		_, _ = fmt.Fprintf(conn, "POST /v1/optimize HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nX: y", plannerToken)
		return 1, nil
	}
	method := pick(a, http.MethodPost, http.MethodPut)
	_, _ = fmt.Fprintf(conn, "%s /v1/optimize HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 60000\r\n\r\n{", method, token)
	if token == plannerToken && method == http.MethodPost {
		return 1, nil
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 1, fmt.Errorf("it waits for the rest: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if code := response.StatusCode; code != http.StatusUnauthorized && code != http.StatusTooManyRequests &&
		(method == http.MethodPost || code != http.StatusMethodNotAllowed) {
		return 1, fmt.Errorf("the answer is %s", response.Status)
	}
	return 1, nil
}

// raw sends bytes as they are.
type raw struct{}

// Name implements the codec of gRPC.
func (raw) Name() string { return "proto" }

// Marshal implements the codec of gRPC.
func (raw) Marshal(v any) ([]byte, error) { return v.([]byte), nil }

// Unmarshal implements the codec of gRPC.
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = bytes.Clone(data)
	return nil
}

// call calls by gRPC, and checks that the answer is one of some codes, or that the connection broke.
func (a *attacker) call(ctx context.Context, method, token string, message []byte, want ...codes.Code) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	var answer []byte
	err := a.conn.Invoke(ctx, method, message, &answer, grpc.ForceCodec(raw{}))
	code := status.Code(err)
	for _, w := range append(want, codes.ResourceExhausted, codes.Unavailable) {
		if code == w {
			return 1, nil
		}
	}
	return 1, fmt.Errorf("%s is answered with %s: %w", method, code, err)
}

func (a *attacker) guardedMethod() string {
	return pick(a, poolwrightv1.OptimizerService_Optimize_FullMethodName, poolwrightv1.FleetService_GetFleet_FullMethodName,
		poolwrightv1.FleetService_PauseWorkload_FullMethodName, poolwrightv1.SimulationService_Simulate_FullMethodName,
		"/externalscaler.ExternalScaler/IsActive", "/grpc.health.v1.Health/Watch", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
}

func (a *attacker) grpcWithoutToken() (int64, error) {
	token := ""
	if a.random.IntN(2) == 0 {
		token = a.forged()
	}
	ctx := context.Background()
	if a.random.IntN(4) == 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, "poolwright-caller-bin", `{"Name":"admin"}`, "x-remote-user", "admin")
	}
	return a.call(ctx, a.guardedMethod(), token, a.bytes(200), codes.Unauthenticated)
}

func (a *attacker) grpcOtherNamespace() (int64, error) {
	workload := pick(a, "b/chat-of-others", "b/none", "B/chat")
	method, m := poolwrightv1.FleetService_PauseWorkload_FullMethodName, proto.Message(&poolwrightv1.PauseWorkloadRequest{Workload: workload, Reason: "mine"})
	if a.random.IntN(2) == 0 {
		method = pick(a, externalscaler.ExternalScaler_IsActive_FullMethodName, externalscaler.ExternalScaler_GetMetricSpec_FullMethodName)
		m = pick(a, &externalscaler.ScaledObjectRef{Namespace: "b", ScalerMetadata: map[string]string{"workload": "chat-of-others"}},
			&externalscaler.ScaledObjectRef{Namespace: "a", ScalerMetadata: map[string]string{"workload": workload}})
	}
	message, err := proto.Marshal(m)
	if err != nil {
		return 0, err
	}
	return a.call(context.Background(), method, annaToken, message, codes.PermissionDenied)
}

// malformedMessage is no message, or one of a method or a compression that there is not.
func (a *attacker) malformedMessage() (int64, error) {
	switch a.random.IntN(3) {
	case 0:
		return a.call(context.Background(), "/poolwright.v1."+pick(a, "OptimizerService/Nothing", "Nothing/Optimize", "/", "OptimizerService/Optimize/x"), plannerToken, nil, codes.Unimplemented)
	case 1:
		return a.bomb()
	}
	message := pick(a,
		func() []byte { return append([]byte{0x0a, 0xff, 0xff, 0xff, 0x7f}, a.bytes(1000)...) }, // a field that is longer than what follows
		func() []byte { return bytes.Repeat([]byte{0x0b}, 1+a.random.IntN(60_000)) },            // groups in groups
		func() []byte { return nested(1 + a.random.IntN(10_000)) },
	)()
	method := pick(a, poolwrightv1.OptimizerService_Optimize_FullMethodName, poolwrightv1.OptimizerService_Calibrate_FullMethodName, poolwrightv1.SimulationService_Simulate_FullMethodName)
	return a.call(context.Background(), method, plannerToken, message, codes.Internal, codes.InvalidArgument)
}

// nested are messages in messages.
func nested(depth int) []byte {
	reversed := []byte{0}
	for range depth {
		length := binary.AppendUvarint(nil, uint64(len(reversed)))
		slices.Reverse(length)
		reversed = append(append(reversed, length...), 0x0a)
	}
	slices.Reverse(reversed)
	return reversed
}

// zeroes are many, in a few bytes.
var zeroes = sync.OnceValue(func() []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(make([]byte, 16<<20)) // a buffer takes everything
	_ = w.Close()
	return zipped.Bytes()
})

// bomb sends little that becomes much.
func (a *attacker) bomb() (int64, error) {
	frame := binary.BigEndian.AppendUint32([]byte{1}, uint32(len(a.zipped))) //nolint:gosec // some kilobytes
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		"https://"+a.victim.grpc+poolwrightv1.OptimizerService_Optimize_FullMethodName, bytes.NewReader(append(frame, a.zipped...)))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	request.Header.Set("Grpc-Encoding", "gzip")
	request.Header.Set("Authorization", "Bearer "+plannerToken)
	response, err := a.second.Do(request)
	if err != nil {
		return 1, nil //nolint:nilerr // the connection broke, which is right
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	code := response.Trailer.Get("Grpc-Status") + response.Header.Get("Grpc-Status")
	if code == "0" || response.StatusCode == http.StatusInternalServerError {
		return 1, fmt.Errorf("the answer is %s, %q", response.Status, code)
	}
	return 1, nil
}

func (a *attacker) largeMetadata() (int64, error) {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "x", strings.Repeat("y", 70_000))
	return a.call(ctx, a.guardedMethod(), plannerToken, nil, codes.Internal, codes.Unauthenticated)
}

// frames begins HTTP/2 by hand.
func (a *attacker) frames() (*tls.Conn, *http2.Framer, error) {
	conn, err := a.dial("h2")
	if err != nil {
		return nil, nil, err
	}
	if _, err = io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	framer := http2.NewFramer(conn, conn)
	err = framer.WriteSettings()
	return conn, framer, err
}

func headers() []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, h := range [][2]string{
		{":method", "POST"},
		{":scheme", "https"},
		{":path", poolwrightv1.OptimizerService_Optimize_FullMethodName},
		{":authority", "x"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
		{"authorization", "Bearer " + plannerToken},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}) // a buffer takes everything
	}
	return block.Bytes()
}

// resets begins requests and takes them back at once.
func (a *attacker) resets() (int64, error) {
	conn, framer, err := a.frames()
	if err != nil {
		return 1, nil
	}
	defer conn.Close() //nolint:errcheck // of the test
	block := headers()
	for i := range uint32(100) {
		id := 2*i + 1
		if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true}) != nil ||
			framer.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
			return int64(i) + 1, nil
		}
	}
	return 100, nil
}

// brokenFrames breaks the rules of HTTP/2, or strains them.
func (a *attacker) brokenFrames() (int64, error) {
	conn, framer, err := a.frames()
	if err != nil {
		return 1, nil
	}
	defer conn.Close() //nolint:errcheck // of the test
	framer.AllowIllegalWrites = true
	block := headers()
	pick(a,
		func() { _, _ = conn.Write(a.bytes(2000)) },
		func() {
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block})
			for range 200 {
				if framer.WriteContinuation(1, false, make([]byte, 1000)) != nil {
					return
				}
			}
		},
		func() {
			for range 500 {
				if framer.WritePing(false, [8]byte{}) != nil {
					return
				}
			}
		},
		func() {
			for range 500 {
				if framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: a.random.Uint32()}) != nil {
					return
				}
			}
		},
		func() {
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true})
			_ = framer.WriteWindowUpdate(0, 1<<31-1)
			_ = framer.WriteWindowUpdate(1, 1<<31-1)
		},
		func() { _ = framer.WriteData(77, true, a.bytes(1000)) },
		func() {
			// A header of 4,000 bytes, and references to it: 64 MiB in 20 KiB.
			large := append([]byte{0x40, 1, 'x', 0x7f, 0xa1, 0x1e}, bytes.Repeat([]byte{'y'}, 4000)...)
			large = append(large, bytes.Repeat([]byte{0xbe}, 12_000)...)
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: append(bytes.Clone(block), large...), EndHeaders: true})
		},
		func() {
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, BlockFragment: a.bytes(300), EndHeaders: true})
		},
		func() {
			// Many at a time, and none of them goes on.
			for i := range uint32(400) {
				if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block, EndHeaders: true}) != nil {
					return
				}
			}
		},
	)()
	return 1, nil
}
