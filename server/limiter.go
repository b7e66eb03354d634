package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// limiter holds calls to the limits, those of gRPC and of REST alike. Calls that REST hands
// on to gRPC have been held to the rate of their caller before.
type limiter struct {
	limits  func() Limits
	metrics *limitMetrics
	turns   *turns
	rates   rates
	// most is the size of the largest request of gRPC.
	most int
	// reading and readingOthers have the requests that are being read, those that may be large and
	// the others: who sends a fleet slowly keeps nobody from what the loop decided.
	reading, readingOthers *reading
	memory                 memory
	streaming              *streaming
	// computing are the paths of REST whose calls take their turn, large those of gRPC and REST
	// whose requests may be large.
	computing, large map[string]bool
}

func newLimiter(limits func() Limits, precedence *Precedence, metrics *limitMetrics) *limiter {
	l := &limiter{
		limits: limits, metrics: metrics,
		turns: &turns{limits: limits, precedence: precedence, metrics: metrics}, memory: memory{metrics: metrics},
		computing: map[string]bool{"/read/fleet": true, "/read/simulation": true},
		large:     map[string]bool{simulatePath: true, poolwrightv1.SimulationService_Simulate_FullMethodName: true},
	}
	precedence.ended = l.turns.resume
	first := limits()
	l.most = first.MaxRequestBytes
	l.reading = newReading(first.RequestMemory/readingShare/2, metrics)
	l.readingOthers = newReading(first.RequestMemory/readingShare/2, metrics)
	l.streaming = newStreaming(int(first.Streams), metrics)
	methods := computingService().Methods()
	for i := range methods.Len() {
		_, path := route(methods.Get(i))
		l.computing[path] = true
		l.large[fmt.Sprintf("/%s/%s", computingService().FullName(), methods.Get(i).Name())] = true
	}
	maps.Copy(l.large, l.computing)
	return l
}

// before is the interceptor of calls with one answer whose requests have not been read: it
// refuses those that there is no place for, and gives the others their time.
func (l *limiter) before(ctx context.Context, _ any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := l.ask(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.limits().Deadline)
	defer cancel()
	if !strings.HasPrefix(info.FullMethod, "/"+string(computingService().FullName())+"/") {
		return handle(ctx, nil)
	}
	turn, err := l.turns.next()
	if err != nil {
		return nil, err
	}
	defer turn.end()
	return handle(turn.within(ctx), nil)
}

// unary is the interceptor of those whose requests have been read.
func (l *limiter) unary(ctx context.Context, m any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	turn := turnOf(ctx)
	if turn == nil {
		return handle(ctx, m)
	}
	if err := turn.take(ctx, turn.bytes); err != nil {
		return nil, err
	}
	ctx, span := solve(ctx)
	defer span.End()
	return handle(ctx, m)
}

// stream is the interceptor of streams.
func (l *limiter) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := l.ask(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	if address, ok := outside(stream.Context()); ok {
		end, err := l.streaming.begin(asking(stream.Context(), address))
		if err != nil {
			return err
		}
		defer end()
	}
	q := &request{limiter: l, method: info.FullMethod}
	defer q.end()
	err := handle(service, &readStream{stream, q})
	if q.done && status.Code(err) == codes.ResourceExhausted {
		l.metrics.shed(shedSimulations)
	}
	return err
}

// ask refuses a gRPC call of a caller that asks too often. Probes of health may always ask.
func (l *limiter) ask(ctx context.Context, method string) error {
	address, ok := outside(ctx)
	if !ok || probes(method) {
		return nil
	}
	return l.rate(ctx, address)
}

// probes tells whether a method asks for health.
func probes(method string) bool {
	return strings.HasPrefix(method, "/"+healthv1.Health_ServiceDesc.ServiceName+"/")
}

// innerNetwork is that of the connection between gateway and gRPC server.
const innerNetwork = "bufconn"

// outside is the address that a call of gRPC comes from; false where REST has handed it on, which
// has held it to the limits.
func outside(ctx context.Context) (address string, ok bool) {
	from, ok := peer.FromContext(ctx)
	if !ok || from.Addr.Network() == innerNetwork {
		return "", false
	}
	return from.Addr.String(), true
}

// rate refuses a call of somebody who asks too often.
func (l *limiter) rate(ctx context.Context, address string) error {
	limits := l.limits()
	wait := l.rates.wait(asking(ctx, address), limits, time.Now())
	if wait == 0 {
		return nil
	}
	l.metrics.shed(shedRate)
	return exhausted(wait, "more than %g calls per second", limits.Rate)
}

// asking is who asks: a user, or an address where nobody said who they are.
func asking(ctx context.Context, address string) string {
	if c, _ := callerOf(ctx); c.user.Name != "" && c.user.Known() {
		return asUser(c.user)
	}
	return hostOf(address)
}

// hostOf is an address without its port; of version 6 the network, all of which a host may have.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		if network, err := ip.Prefix(64); err == nil {
			return network.String()
		}
	}
	return host
}

// mostBytesOfOthers is the size of the largest request of those that are neither computed nor
// simulated: pauses, and what is read of the loop.
const mostBytesOfOthers = 64 << 10

// timeOfOthers is how long each of them may take to come once there is room for it. KEDA waits for 3 s at
// most, and asks beside those who send theirs slowly.
const timeOfOthers = 2 * time.Second

// room is where the requests of a method or path are read, and how long one may take to come.
func (l *limiter) room(method string) (*reading, time.Duration) {
	if l.large[method] {
		return l.reading, requestTime
	}
	return l.readingOthers, timeOfOthers
}

// handler is the middleware of REST; refuse answers with an error. A request is read
// before it takes its turn and its answer is written after it: a slow client takes no
// processor from anybody. It has the memory until it has the answer.
func (l *limiter) handler(next http.Handler, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := l.rate(r.Context(), r.RemoteAddr); err != nil {
			refuse(w, r, err)
			return
		}
		ctx := r.Context()
		if streams(r.URL.Path) {
			end, err := l.streaming.begin(asking(ctx, r.RemoteAddr))
			if err != nil {
				refuse(w, r, err)
				return
			}
			defer end()
		} else {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, l.limits().Deadline)
			defer cancel()
			r = r.WithContext(ctx)
		}
		var turn *turn
		if l.computing[r.URL.Path] {
			var err error
			if turn, err = l.turns.next(); err != nil {
				refuse(w, r, err)
				return
			}
		}
		bytes, give, err := l.read(w, r)
		if err != nil {
			refuse(w, r, err)
			return
		}
		defer give() // once the client has the answer
		if turn == nil {
			next.ServeHTTP(w, r)
			return
		}
		answer, err := turn.answer(next, w, r, bytes)
		if err != nil {
			refuse(w, r, err)
			return
		}
		answer.write(w)
	})
}

// mostBeside is how many requests are answered at once of each thing that HTTP has beside the API.
const mostBeside = 4

// beside is the middleware of what HTTP has beside the API and takes time to make. It is not held to the rate
// of its caller: metrics say what happens when callers ask too often.
func (l *limiter) beside(next http.Handler) http.Handler {
	places := make(chan struct{}, mostBeside)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			l.metrics.shed(shedQueue)
			refuse(w, r, exhausted(time.Second, "%d requests are being answered here, which is all that may at a time", mostBeside))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), l.limits().Deadline)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// answer is that to a request of so many bytes, computed in the turn.
func (n *turn) answer(next http.Handler, w http.ResponseWriter, r *http.Request, bytes int) (*buffered, error) {
	defer n.end()
	if err := n.take(r.Context(), bytes); err != nil {
		return nil, err
	}
	ctx, span := solve(n.within(r.Context()))
	defer span.End()
	answer := &buffered{header: w.Header()}
	next.ServeHTTP(answer, r.WithContext(ctx))
	return answer, nil
}

// read reads the body of a request when there is room for it, and takes memory for what becomes
// of it, until give is called.
func (l *limiter) read(w http.ResponseWriter, r *http.Request) (n int, give func(), err error) {
	if r.ContentLength == 0 {
		return 0, func() {}, nil
	}
	limits := l.limits()
	most := limits.MaxRequestBytes
	if !l.large[r.URL.Path] {
		most = min(most, mostBytesOfOthers)
	}
	expected := most
	if r.ContentLength > 0 {
		expected = int(min(int64(most), r.ContentLength))
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(limits.Deadline, requestTime))
	defer cancel()
	room, limit := l.room(r.URL.Path)
	var text []byte
	var unread error
	if err := room.while(ctx, asking(r.Context(), r.RemoteAddr), expected, func() error {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // only a writer of a test has none
		text, unread = io.ReadAll(http.MaxBytesReader(w, r.Body, int64(most)))
		return nil
	}); err != nil {
		return 0, nil, err
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), failing{unread}))
	if !l.large[r.URL.Path] {
		return len(text), func() {}, nil
	}
	give, err = l.memory.take(len(text), elementsIn(text), limits.RequestMemory)
	return len(text), give, err
}

// failing is the end of a body: why it could not be read further.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// buffered is an answer that is written later.
type buffered struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (b *buffered) Header() http.Header { return b.header }

func (b *buffered) WriteHeader(code int) {
	if b.code == 0 {
		b.code = code
	}
}

func (b *buffered) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(p)
}

func (b *buffered) write(w http.ResponseWriter) {
	w.WriteHeader(max(b.code, http.StatusOK))
	_, _ = w.Write(b.body.Bytes()) //nolint:gosec // JSON or YAML, and not sniffed; the client is gone when this fails
}

// exhausted is RESOURCE_EXHAUSTED with the time after which to ask again.
func exhausted(retry time.Duration, format string, args ...any) error {
	return retriable(codes.ResourceExhausted, retry, fmt.Sprintf("%s: ask again in %s", fmt.Sprintf(format, args...), retry.Round(time.Millisecond)))
}

// retriable is an error with the time after which to ask again.
func retriable(code codes.Code, retry time.Duration, message string) error {
	s := status.New(code, message)
	detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retry)})
	if err != nil {
		return s.Err()
	}
	return detailed.Err()
}

// retryAfter is the time after which to ask again, as HTTP has it: whole seconds; "" where
// an error does not say.
func retryAfter(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return fmt.Sprint(int64((info.GetRetryDelay().AsDuration() + time.Second - 1) / time.Second))
		}
	}
	return ""
}

// computingService is the one whose calls are computed.
func computingService() protoreflect.ServiceDescriptor {
	return poolwrightv1.File_poolwright_v1_optimizer_service_proto.Services().ByName("OptimizerService")
}
