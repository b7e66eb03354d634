package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// mostBytes is the largest call that is taken.
const mostBytes = 64 << 20

// answer is what a call is answered with.
type answer struct {
	binary, text []byte
	message      proto.Message
}

// addresses are where a server can be asked.
type addresses struct{ GRPC, HTTP string }

// echoes are where the servers without a service behind them can be asked.
type echoes struct{ Bytes, Messages addresses }

// echo answers payloads with what a folder has for them, until ctx ends. It prints where, as
// JSON.
func echo(ctx context.Context, folder string, w io.Writer) error {
	answers, sizes, err := readAnswers(folder)
	if err != nil {
		return err
	}
	gateway := runtime.NewServeMux()
	if err := poolwrightv1.RegisterOptimizerServiceHandlerServer(ctx, gateway, messages{answers: answers}); err != nil {
		return err
	}
	inBytes := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.MaxRecvMsgSize(mostBytes))
	inBytes.RegisterService(serviceOfBytes(answers, sizes), nil)
	inMessages := grpc.NewServer(grpc.MaxRecvMsgSize(mostBytes))
	poolwrightv1.RegisterOptimizerServiceServer(inMessages, messages{answers: answers})

	var where echoes
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range []struct {
		grpc  *grpc.Server
		http  http.Handler
		where *addresses
	}{{inBytes, handlerOfBytes(answers, sizes), &where.Bytes}, {inMessages, gateway, &where.Messages}} {
		if err := serve(ctx, group, s.grpc, s.http, s.where); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(w).Encode(where); err != nil {
		return err
	}
	return group.Wait()
}

// serve answers on two ports of loopback until ctx ends.
func serve(ctx context.Context, group *errgroup.Group, g *grpc.Server, h http.Handler, where *addresses) error {
	listen := func() (net.Listener, error) {
		var c net.ListenConfig
		return c.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	forGRPC, err := listen()
	if err != nil {
		return err
	}
	forHTTP, err := listen()
	if err != nil {
		return err
	}
	*where = addresses{GRPC: forGRPC.Addr().String(), HTTP: "http://" + forHTTP.Addr().String()}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	group.Go(func() error { return g.Serve(forGRPC) })
	group.Go(func() error {
		if err := s.Serve(forHTTP); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		g.Stop()
		return s.Close()
	})
	return nil
}

// readAnswers reads the answers of a folder by the names of their payloads, and these by method and
// the number of bytes that are asked.
func readAnswers(folder string) (answers map[string]answer, sizes map[string]string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	answers, sizes = map[string]answer{}, map[string]string{}
	for _, file := range files {
		var k kept
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(text, &k); err != nil {
			return nil, nil, err
		}
		a := answer{binary: k.Binary, text: k.Text, message: emptyAnswer(k.Method)}
		if err := proto.Unmarshal(k.Binary, a.message); err != nil {
			return nil, nil, err
		}
		p, err := newPayload(k.Method, k.Workloads)
		if err != nil {
			return nil, nil, err
		}
		answers[p.String()] = a
		sizes[sized(k.Method, len(p.binary))], sizes[sized(path(k.Method), len(p.text))] = p.String(), p.String()
	}
	return answers, sizes, nil
}

// kept is an answer of the service in a file.
type kept struct {
	Method       string
	Workloads    int
	Binary, Text []byte
}

func (k *kept) write(folder string) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d.json", k.Method, k.Workloads)), text, 0o600)
}

func emptyAnswer(method string) proto.Message {
	if method == capacity {
		return &poolwrightv1.Capacities{}
	}
	return &poolwrightv1.Plan{}
}

func sized(what string, bytes int) string { return fmt.Sprintf("%s-%d", what, bytes) }

// messages answers messages with messages.
type messages struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
	answers map[string]answer
}

func (m messages) answer(method string, f *poolwrightv1.Fleet) proto.Message {
	return m.answers[fmt.Sprintf("%s-%d", method, len(f.GetWorkloads()))].message
}

func (m messages) Optimize(_ context.Context, f *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	return m.answer(optimize, f).(*poolwrightv1.Plan), nil
}

func (m messages) Capacity(_ context.Context, f *poolwrightv1.Fleet) (*poolwrightv1.Capacities, error) {
	return m.answer(capacity, f).(*poolwrightv1.Capacities), nil
}

// raw passes bytes on as they are.
type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = bytes.Clone(data)
	return nil
}

// serviceOfBytes answers bytes with bytes over gRPC.
func serviceOfBytes(answers map[string]answer, sizes map[string]string) *grpc.ServiceDesc {
	d := &grpc.ServiceDesc{ServiceName: "poolwright.v1.OptimizerService", HandlerType: (*any)(nil)}
	for _, method := range []string{optimize, capacity} {
		d.Methods = append(d.Methods, grpc.MethodDesc{
			MethodName: method,
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var asked []byte
				if err := decode(&asked); err != nil {
					return nil, err
				}
				found := answers[sizes[sized(method, len(asked))]].binary
				return &found, nil
			},
		})
	}
	return d
}

// handlerOfBytes answers bytes with bytes over HTTP.
func handlerOfBytes(answers map[string]answer, sizes map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answers[sizes[sized(r.URL.Path, len(asked))]].text) // the client is gone when this fails
	})
}
