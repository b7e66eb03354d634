package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// otherMethod says that it is another method than it is.
func (a *attacker) otherMethod() (int64, error) {
	method, path, body := http.MethodPost, pick(a, "/v1/fleet", "/v1/decisions", "/metrics"), "view=FULL&_method=GET"
	if a.random.IntN(2) == 0 {
		method, path, body = pick(a, http.MethodGet, http.MethodPut, http.MethodDelete), "/v1/workloads/a/chat:pause?reason=mine&_method=POST", ""
	}
	request, err := http.NewRequestWithContext(context.Background(), method, "https://"+a.http+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	if token := pick(a, "", annaToken, plannerToken); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", pick(a, "application/x-www-form-urlencoded", "application/json", "application/grpc"))
	request.Header.Set(pick(a, "X-Http-Method-Override", "X-Http-Method", "X-Method-Override"), pick(a, http.MethodGet, http.MethodPost))
	request.Header.Set(pick(a, "X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Prefix"), "/healthz")
	return a.send(request)
}

// manyHeaders are each a small one.
func (a *attacker) manyHeaders() (int64, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+a.http+"/healthz", http.NoBody)
	if err != nil {
		return 0, err
	}
	for i := range 5_000 + a.random.IntN(5_000) {
		request.Header.Set(fmt.Sprint("X-", i), "some value")
	}
	return a.send(request, http.StatusRequestHeaderFieldsTooLarge)
}

// compressedBody is little that would be much.
func (a *attacker) compressedBody() (int64, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		"https://"+a.http+pick(a, "/v1/optimize", "/v1/simulate", "/v1/calibrate"), bytes.NewReader(a.zipped))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+plannerToken)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(pick(a, "Content-Encoding", "Grpc-Encoding", "Transfer-Encoding"), "gzip")
	return a.send(request, http.StatusBadRequest, http.StatusUnsupportedMediaType)
}

// lets is an answer that lets somebody in, or that should not be.
var lets = regexp.MustCompile(`HTTP/1\.[01] ([12]\d\d|500)`)

// brokenHTTP is what no client sends. What is hidden behind it is no request of its own.
func (a *attacker) brokenHTTP() (int64, error) {
	conn, err := a.dial("http/1.1")
	if err != nil {
		return 1, nil
	}
	defer conn.Close() //nolint:errcheck // of the test
	const hidden = "GET /v1/fleet HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + adminToken + "\r\n\r\n"
	post := "POST /v1/optimize HTTP/1.1\r\nHost: x\r\n"
	_, _ = conn.Write([]byte(pick(a,
		string(a.bytes(500))+"\r\n\r\n",
		post+"Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxx"+hidden,
		post+"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"+hidden,
		post+"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"+hidden,
		post+"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n"+hidden,
		post+"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"+hidden,
		post+"Content-Length: +5\r\n\r\nxxxxx"+hidden,
		post+"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"+hidden,
		post+"Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Bearer "+adminToken+"\r\n\r\n",
		post+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(hidden))+hidden,
		"GET /v1/fleet HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"+hidden,
		"GET /v1/fleet HTTP/1.1\r\n\r\n"+hidden,
		"GET /v1/fleet HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("y", 80_000)+"\r\n\r\n"+hidden,
		"GET /v1/fleet HTTP/1.1\r\nHost: x\r\nX: y\r\n Authorization: Bearer "+adminToken+"\r\n\r\n",
		"GET /v1/fleet HTTP/1.1\r\nHost: x\r\nX: y\nAuthorization : Bearer "+adminToken+"\r\n\r\n",
		"GET /v1/fleet HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nAuthorization: Bearer "+adminToken+"\r\n\r\n",
		"GET /v1/fleet?access_token="+adminToken+" HTTP/1.1\r\nHost: x\r\nCookie: token="+adminToken+"\r\nProxy-Authorization: Bearer "+adminToken+"\r\n\r\n",
		"GET /v1/decisions:watch HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: Bearer, "+adminToken+"\r\n\r\n",
		"GET /v1/fleet HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
		"GET /v1/fleet HTTP/9.9\r\nHost: x\r\n\r\n",
		"GET /v1/fleet\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET http://169.254.169.254/v1/fleet HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
	)))
	_ = conn.CloseWrite() // so that what is not complete is not waited for
	text, _ := io.ReadAll(conn)
	if answer := lets.Find(text); answer != nil || bytes.Contains(text, []byte("chat-of-others")) {
		return 1, fmt.Errorf("the answer is %.300q", text)
	}
	return 1, nil
}

// oddGRPC is gRPC as no client speaks it.
func (a *attacker) oddGRPC() (int64, error) {
	body := []byte{0, 0, 0, 0, 1, 0x0a} // a field without its length
	header := http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Authorization": {"Bearer " + plannerToken}}
	pick(a,
		func() {
			header.Set("Grpc-Timeout", pick(a, "0n", "-1S", "x", "999999999H", "1", "99999999999999999999S"))
		},
		func() {
			header.Set("Grpc-Encoding", pick(a, "x", "deflate", "gzip, gzip", "identity;q=0"))
			body[0] = 1
		},
		func() {
			header.Set("Content-Type", pick(a, "application/grpc+x", "application/grpc-web", "application/json", ""))
		},
		func() { header.Add("Authorization", "Bearer "+adminToken) },
		func() { header.Set("Poolwright-Relayed", "true"); header.Set("Authorization", "Bearer "+a.forged()) },
		func() { header.Set("Poolwright-Caller-Bin", "!") },
		func() { body = binary.BigEndian.AppendUint32([]byte{0}, 1<<31) },
		func() { body = a.bytes(4) },
		func() { body = append(body, body...) },
	)()
	address, method := a.grpc, poolwrightv1.OptimizerService_Optimize_FullMethodName
	if a.random.IntN(4) == 0 {
		address = a.http
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://"+address+method, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header = header
	response, err := a.second.Do(request)
	if err != nil {
		return 1, nil // the connection broke, which is right
	}
	defer response.Body.Close() //nolint:errcheck // only read
	_, _ = io.Copy(io.Discard, response.Body)
	if code := response.Trailer.Get("Grpc-Status") + response.Header.Get("Grpc-Status"); code == "0" || response.StatusCode == http.StatusInternalServerError {
		return 1, fmt.Errorf("%v is answered with %s, %q", header, response.Status, code)
	}
	return 1, nil
}
