package app

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/access/accesstest"
	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/proto/externalscaler"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// guarded answers by gRPC until the test ends, to who may ask, and returns its address. Whoever
// leads may be another one.
func guarded(t *testing.T, a *access.Access, people view, ask server.Leader) string {
	t.Helper()
	s, err := server.New(server.Config{
		Services: server.Services{
			Optimizer: server.NewOptimizer(planner.New(lp.Simplex())),
			Fleet:     server.Follow(server.NewFleet(people), ask),
			Scaler:    server.NewScaler(server.ScalerConfig{Decisions: people, Leader: ask, TTL: -1}),
		},
		Registry: prometheus.NewRegistry(), Access: a,
	})
	require.NoError(t, err)
	var listeners [2]net.Listener
	for i := range listeners {
		listeners[i], err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listeners[0], listeners[1]) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return listeners[0].Addr().String()
}

// Callers of a process that does not lead get what the leader lets them have, whatever they
// have shown; and nobody else is asked.
func TestLeaderIsAskedForCallers(t *testing.T) {
	authority, stranger := accesstest.New(t, "CA"), accesstest.New(t, "CA")
	certificate := authority.Server(t, "poolwright.poolwright.svc")
	knows := func(c accesstest.Certificate, rules ...access.Rule) *access.Access {
		folder := t.TempDir()
		c.Write(t, folder)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "ca.crt"), authority.PEM(), 0o600))
		a, err := access.New(access.Config{
			TLS: &access.TLS{
				CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key"), ClientCAFile: filepath.Join(folder, "ca.crt"),
			},
			Authentication: &access.Authentication{ClientCertificates: true},
			Authorization:  &access.Authorization{Rules: rules},
		}, nil)
		require.NoError(t, err)
		return a
	}
	everything := access.Rule{Users: []string{"keda"}, Methods: []string{"*"}}
	people := view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}}
	e := controller.Entry{Sequence: 1}
	for _, namespace := range []string{"a", "b"} {
		e.Decision.Fleet.Workloads = append(e.Decision.Fleet.Workloads, planner.Workload{
			Namespace: namespace, Name: "chat", Variants: []planner.Variant{{Name: "v", CurrentReplicas: 3}},
		})
		e.Decision.Plans = append(e.Decision.Plans, planner.WorkloadPlan{Variants: make([]planner.VariantPlan, 1)})
	}
	people.Add(e)
	self := leader{access: knows(certificate)}
	require.NoError(t, self.changed(election.Leader{Identity: "leader", Self: true}))
	leading := guarded(t, knows(certificate, access.Rule{Users: []string{"keda"}, Methods: []string{"*"}, Namespaces: []string{"a"}}), people, self.ask)
	impostor := guarded(t, knows(stranger.Server(t, "poolwright.poolwright.svc"), everything), people, self.ask)

	l := leader{access: knows(certificate, everything)}
	following := guarded(t, l.access, view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}}, l.ask)
	client := authority.Client(t, time.Now().Add(time.Hour), "keda")
	conn, err := grpc.NewClient(following, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		RootCAs: authority.Pool(), Certificates: []tls.Certificate{client.Certificate},
	})))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	active := func(namespace string) error {
		answer, err := externalscaler.NewExternalScalerClient(conn).IsActive(t.Context(), &externalscaler.ScaledObjectRef{
			Namespace: namespace, ScalerMetadata: map[string]string{"workload": "chat"},
		})
		if err == nil {
			require.True(t, answer.GetResult())
		}
		return err
	}

	require.NoError(t, l.changed(election.Leader{Identity: "leader", Address: leading}))
	require.NoError(t, active("a"))
	require.Equal(t, codes.PermissionDenied, status.Code(active("b")), "the leader asks its own rules, about who called first")
	fleet, err := poolwrightv1.NewFleetServiceClient(conn).GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	require.Len(t, fleet.GetFleet().GetWorkloads(), 1)

	require.NoError(t, l.changed(election.Leader{Identity: "impostor", Address: impostor}))
	err = active("a")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "no other process of this installation")
}
