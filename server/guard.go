package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"golang.org/x/time/rate"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/access"
)

// guard finds out who calls and whether they may, once per call and before anything of a
// request is read.
type guard struct {
	access *access.Access // nil = nobody is asked who they are
	log    *slog.Logger
	// unsaid limits how often it is said that it could not be found out.
	unsaid *rate.Sometimes
	// attempts are of addresses with tokens that nobody knows, and of users without rights.
	attempts attempts
}

func newGuard(a *access.Access, l *slog.Logger, metrics *limitMetrics) *guard {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return &guard{access: a, log: l, unsaid: &rate.Sometimes{Interval: time.Minute}, attempts: attempts{metrics: metrics}}
}

// caller is who calls, and where they may do what they ask for.
type caller struct {
	user     access.User
	question access.Question
	scope    access.Scope
	guard    *guard
}

type callerKey struct{}

// callerOf is who calls in a context; false where nobody was let in.
func callerOf(ctx context.Context) (caller, bool) {
	c, ok := ctx.Value(callerKey{}).(caller)
	return c, ok
}

// again lets a caller in whose call goes on for long, by what counts now. The error is a status.
func again(ctx context.Context) (context.Context, error) {
	c, ok := callerOf(ctx)
	if !ok {
		return nil, status.Error(codes.Internal, "nobody was let in")
	}
	return c.guard.admit(ctx, c.user, c.question)
}

func (g *guard) asks() bool { return g.access != nil && g.access.Asked() }

// leaves tells whether protection is left to others, such as a proxy on this machine.
func (g *guard) leaves() bool { return g.access != nil && g.access.Insecure() }

// user is who shows something, from an address. The error is a status.
func (g *guard) user(ctx context.Context, address string, shown access.Shown) (access.User, error) {
	if !g.asks() {
		return access.Anonymous(), nil
	}
	host := hostOf(address)
	shown.Attempt = g.attempts.limit(host, "tokens that nobody knows")
	u, err := g.access.Authenticate(ctx, shown)
	if err != nil {
		if shown.Token != "" && errors.Is(err, access.ErrUnauthenticated) {
			g.attempts.fail(host)
		}
		return u, g.refusal(ctx, err)
	}
	return u, nil
}

// admit lets a user in, and returns the context of the call. The error is a status.
func (g *guard) admit(ctx context.Context, u access.User, q access.Question) (context.Context, error) {
	scope := access.Everywhere()
	if g.asks() {
		var err error
		if scope, err = g.access.Admit(ctx, u, q); err != nil {
			return nil, g.refusal(ctx, err)
		}
	}
	return context.WithValue(ctx, callerKey{}, caller{u, q, scope, g}), nil
}

// refusal is the status of an error of access. What an API server says is not for callers.
func (g *guard) refusal(ctx context.Context, err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	switch {
	case errors.Is(err, access.ErrUnauthenticated):
		return status.Error(codes.Unauthenticated, strings.ToValidUTF8(err.Error(), "?"))
	case errors.Is(err, access.ErrDenied):
		return status.Error(codes.PermissionDenied, strings.ToValidUTF8(err.Error(), "?")) // of a path, say
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	}
	g.unsaid.Do(func() {
		g.log.Error("callers are refused, since it cannot be found out who may ask what", "error", err)
	})
	return status.Error(codes.Unavailable, "it cannot be found out now who may ask what: ask again")
}

// bearer is the token of headers of authorization; empty = none. Of several none counts.
func bearer(values []string) (string, error) {
	if len(values) > 1 {
		return "", status.Error(codes.Unauthenticated, "authorization is given several times")
	}
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", nil // of a proxy
	}
	return strings.TrimSpace(token), nil
}

// namespaced are the services whose calls are about workloads of namespaces that are not
// the caller's own.
func namespaced() []string { return []string{"FleetService", "ExternalScaler"} }

// question is what a call of gRPC asks for, such as /poolwright.v1.FleetService/GetFleet.
func question(fullMethod string) access.Question {
	service, method, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	service = service[strings.LastIndexByte(service, '.')+1:]
	return access.Question{Method: service + "/" + method, Namespaced: slices.Contains(namespaced(), service)}
}

// unary is the interceptor of calls with one answer, before their request is read.
func (g *guard) unary(ctx context.Context, m any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	ctx, err := g.call(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return handle(ctx, m)
}

// stream is the interceptor of streams.
func (g *guard) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ctx, err := g.call(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	return handle(service, admittedStream{stream, ctx})
}

// admittedStream is a stream in the context of its caller.
type admittedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements [grpc.ServerStream].
func (s admittedStream) Context() context.Context { return s.ctx }

// call lets a call of gRPC in.
func (g *guard) call(ctx context.Context, method string) (context.Context, error) {
	if method == healthv1.Health_Check_FullMethodName { // which says no more than /readyz
		return ctx, nil
	}
	u, err := g.grpcUser(ctx)
	if err != nil {
		return nil, err
	}
	return g.admit(ctx, u, question(method))
}

// grpcUser is who calls by gRPC.
func (g *guard) grpcUser(ctx context.Context) (access.User, error) {
	if !g.asks() {
		return access.Anonymous(), nil
	}
	from, ok := peer.FromContext(ctx)
	if !ok {
		return access.User{}, status.Error(codes.Unauthenticated, "nobody calls")
	}
	if from.Addr.Network() == innerNetwork {
		return saidCaller(ctx)
	}
	var shown access.Shown
	if t, ok := from.AuthInfo.(credentials.TLSInfo); ok {
		shown.Certificates = t.State.PeerCertificates
	}
	var err error
	if shown.Token, err = bearer(metadata.ValueFromIncomingContext(ctx, authorization)); err != nil {
		return access.User{}, err
	}
	u, err := g.user(ctx, from.Addr.String(), shown)
	if err == nil && u.Peer() {
		return saidCaller(ctx)
	}
	return u, err
}

// callerName is where it is said who calls: by the gateway on the connection inside of the process,
// and by another process of this installation, which has asked. Nobody else is listened to.
const callerName = "poolwright-caller-bin"

// saidCaller is who calls, as the gateway or another process says.
func saidCaller(ctx context.Context) (access.User, error) {
	var u access.User
	said := metadata.ValueFromIncomingContext(ctx, callerName)
	if len(said) != 1 || json.Unmarshal([]byte(said[0]), &u) != nil || u.Name == "" {
		return u, status.Error(codes.Unauthenticated, "it is not said who calls")
	}
	return u, nil
}

// passCaller says who calls.
func passCaller(ctx context.Context, to metadata.MD) error {
	c, ok := callerOf(ctx)
	if !ok {
		return status.Error(codes.Internal, "nobody was let in")
	}
	said, err := json.Marshal(c.user)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	to.Set(callerName, string(said))
	return nil
}

// innerContext says who calls, to the gRPC side, and nothing else that the caller has sent but
// what it has shown.
func innerContext(ctx context.Context) (context.Context, error) {
	sent, _ := metadata.FromOutgoingContext(ctx)
	passed := metadata.MD{authorization: sent.Get(authorization)}
	if err := passCaller(ctx, passed); err != nil {
		return nil, err
	}
	return metadata.NewOutgoingContext(ctx, passed), nil
}

// inner are the options of the connection from the gateway to the gRPC side.
func (g *guard) inner() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, m, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
			ctx, err := innerContext(ctx)
			if err != nil {
				return err
			}
			return invoke(ctx, method, m, answer, conn, o...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
			ctx, err := innerContext(ctx)
			if err != nil {
				return nil, err
			}
			return stream(ctx, desc, conn, method, o...)
		}),
	}
}

type userKey struct{}

// handler is the middleware of HTTP, before a mux. Open patterns are for everybody; what is
// below /v1/ is guarded call by call, see [guard.calls], and everything else as a path.
func (g *guard) handler(mux *http.ServeMux, open ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.local(r) {
			http.Error(w, "this service is reached by localhost or an address, and not by "+fmt.Sprintf("%.100q", r.Host), http.StatusMisdirectedRequest)
			return
		}
		_, pattern := mux.Handler(r)
		if slices.Contains(open, pattern) {
			mux.ServeHTTP(w, r)
			return
		}
		ctx := r.Context()
		u, err := g.httpUser(r)
		if err == nil {
			ctx = context.WithValue(ctx, userKey{}, u)
			if !strings.HasPrefix(pattern, "/v1/") {
				ctx, err = g.admit(ctx, u, access.Question{Path: pathOf(r), Verb: strings.ToLower(r.Method)})
			}
		}
		if err != nil {
			refuse(w, r, err)
			return
		}
		mux.ServeHTTP(w, r.WithContext(ctx))
	})
}

// pathOf is the path that is asked for. What there is not is none, so that nobody has the API server
// asked about one after the other.
func pathOf(r *http.Request) string {
	p := path.Clean("/" + r.URL.Path)
	if below, ok := strings.CutPrefix(p, profilePath+"/"); ok && !isProfile(below) {
		return profilePath
	}
	return p
}

// local tells whether a request was meant for this server. Where nobody is asked who they are, a
// page of another site could otherwise give its name the address of this machine, and have the browser
// of somebody on it ask.
func (g *guard) local(r *http.Request) bool {
	if g.access == nil || g.asks() || g.leaves() {
		return true
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil
}

func (g *guard) httpUser(r *http.Request) (access.User, error) {
	if !g.asks() {
		return access.Anonymous(), nil
	}
	var shown access.Shown
	if r.TLS != nil {
		shown.Certificates = r.TLS.PeerCertificates
	}
	var err error
	if shown.Token, err = bearer(r.Header.Values("Authorization")); err != nil {
		return access.User{}, err
	}
	return g.user(r.Context(), r.RemoteAddr, shown)
}

// calls guards the calls that REST makes of services, by the method that a path stands for,
// before next answers them. What is no call is answered here, so that nothing of it is read.
func (g *guard) calls(next http.Handler, services ...protoreflect.ServiceDescriptor) (http.Handler, error) {
	routes := runtime.NewServeMux(routing()...)
	for _, service := range services {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			verb, pattern := route(method)
			if err := routes.HandlePath(verb, pattern, g.answer(next, question(string(service.FullName())+"/"+string(method.Name())))); err != nil {
				return nil, fmt.Errorf("server: %s: %w", method.FullName(), err)
			}
		}
	}
	return routes, nil
}

func (g *guard) answer(next http.Handler, q access.Question) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, _ map[string]string) {
		u, ok := r.Context().Value(userKey{}).(access.User)
		if !ok {
			refuse(w, r, status.Error(codes.Internal, "nobody was asked who they are"))
			return
		}
		ctx, err := g.admit(r.Context(), u, q)
		if err != nil {
			refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	}
}

// route is where REST has a method.
func route(m protoreflect.MethodDescriptor) (verb, pattern string) {
	rule, _ := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
	if rule.GetGet() != "" {
		return http.MethodGet, rule.GetGet()
	}
	return http.MethodPost, rule.GetPost()
}

// admitted is the middleware of the gateway: whatever comes by a way that is not guarded
// goes no further.
func admitted(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, parameters map[string]string) {
		if _, ok := callerOf(r.Context()); !ok {
			refuse(w, r, status.Error(codes.Internal, "nobody was let in"))
			return
		}
		next(w, r, parameters)
	}
}

// refuse answers who is not let in.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	s := status.Convert(err)
	body, err := jsonMarshaler.Marshal(s.Proto())
	if err != nil {
		http.Error(w, s.Message(), http.StatusInternalServerError)
		return
	}
	if after := retryAfter(s.Err()); after != "" {
		w.Header().Set("Retry-After", after)
	}
	if s.Code() == codes.Unauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	unread(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(runtime.HTTPStatusFromCode(s.Code()))
	_, _ = w.Write(body) //nolint:gosec // JSON, and not sniffed; the client is gone when this fails
}

// unread ends the connection of a request that is not read: the answer does not wait for what the
// client still wants to send.
func unread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
