package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/proto/externalscaler"
)

// Decisions are those of a loop. A [controller.History] has them.
type Decisions interface {
	// Newest is the last one; false before the first.
	Newest() (controller.Remembered, bool)
	// Wait returns when there is one beyond a sequence number, or when ctx ends.
	Wait(ctx context.Context, sequence uint64) error
}

// ScalerConfig is what a [Scaler] works with. Decisions are needed.
type ScalerConfig struct {
	Decisions Decisions
	// TTL is how old the last decision may be, by the time of its snapshot; 0 = eight cycles of
	// its loop, below 0 = any age, for a loop whose clock is not the system's.
	TTL time.Duration
	// Leader is who is asked in place of this process; nil = this one always decides.
	Leader Leader
}

// scalerCycles without a decision are taken for an outage.
const scalerCycles = 8

// Scaler is KEDA's external scaler: it recommends the replicas of the last decision. It
// never computes anything, since KEDA waits three seconds at most, and all replicas of a
// service give the same answer.
type Scaler struct {
	externalscaler.UnimplementedExternalScalerServer
	config ScalerConfig

	mu sync.Mutex
	// sequence is that of the decision that recommended says, nil before the first.
	sequence    uint64
	recommended map[scaled]recommendation
}

// NewScaler returns a scaler.
func NewScaler(c ScalerConfig) *Scaler {
	return &Scaler{config: c}
}

// What the HorizontalPodAutoscaler is told: the sum over replicas of a metric of which each
// should have one, so that the sum is the number of replicas. The name is the same always.
const (
	scalerMetric = "poolwright_desired_replicas"
	scalerTarget = 1
)

// GetMetricSpec names the metric. It needs no decision, so that the
// HorizontalPodAutoscaler is never without one.
func (s *Scaler) GetMetricSpec(ctx context.Context, ref *externalscaler.ScaledObjectRef) (*externalscaler.GetMetricSpecResponse, error) {
	if _, err := asked(ctx, ref); err != nil {
		return nil, err
	}
	return &externalscaler.GetMetricSpecResponse{MetricSpecs: []*externalscaler.MetricSpec{
		{MetricName: scalerMetric, TargetSize: scalerTarget, TargetSizeFloat: scalerTarget},
	}}, nil
}

// GetMetrics returns the number of replicas.
func (s *Scaler) GetMetrics(ctx context.Context, m *externalscaler.GetMetricsRequest) (*externalscaler.GetMetricsResponse, error) {
	return answer(ctx, s, m.GetScaledObjectRef(),
		func(ctx context.Context, leader externalscaler.ExternalScalerClient) (*externalscaler.GetMetricsResponse, error) {
			return leader.GetMetrics(ctx, m)
		},
		func(r recommendation) *externalscaler.GetMetricsResponse {
			return &externalscaler.GetMetricsResponse{MetricValues: []*externalscaler.MetricValue{
				{MetricName: m.GetMetricName(), MetricValue: int64(r.replicas), MetricValueFloat: float64(r.replicas)},
			}}
		})
}

// IsActive is false only where the demand is known and zero replicas serve it.
func (s *Scaler) IsActive(ctx context.Context, ref *externalscaler.ScaledObjectRef) (*externalscaler.IsActiveResponse, error) {
	return answer(ctx, s, ref,
		func(ctx context.Context, leader externalscaler.ExternalScalerClient) (*externalscaler.IsActiveResponse, error) {
			return leader.IsActive(ctx, ref)
		},
		func(r recommendation) *externalscaler.IsActiveResponse {
			return &externalscaler.IsActiveResponse{Result: r.active()}
		})
}

// answer asks the leader where that is another process, and otherwise says what the last
// decision recommends.
func answer[T any](ctx context.Context, s *Scaler, ref *externalscaler.ScaledObjectRef,
	ask func(context.Context, externalscaler.ExternalScalerClient) (*T, error), say func(recommendation) *T,
) (*T, error) {
	scaled, err := asked(ctx, ref)
	if err != nil {
		return nil, err
	}
	ctx, leader, err := s.config.Leader.ask(ctx)
	switch {
	case err != nil:
		return nil, err
	case leader != nil:
		said, err := ask(ctx, externalscaler.NewExternalScalerClient(leader))
		return said, untilTermEnds(ctx, err)
	}
	r, err := s.recommendation(sightOf(ctx), scaled)
	if err != nil {
		return nil, err
	}
	return say(r), nil
}

// StreamIsActive says true at once where replicas are wanted, and whenever they come to be.
// It never says false, which some versions of KEDA act on without asking other triggers;
// they learn it by [Scaler.IsActive].
func (s *Scaler) StreamIsActive(ref *externalscaler.ScaledObjectRef, stream grpc.ServerStreamingServer[externalscaler.IsActiveResponse]) error {
	scaled, err := asked(stream.Context(), ref)
	if err != nil {
		return err
	}
	ctx, leader, err := s.config.Leader.ask(stream.Context())
	switch {
	case err != nil:
		return err
	case leader != nil:
		from, err := externalscaler.NewExternalScalerClient(leader).StreamIsActive(ctx, ref)
		if err == nil {
			err = relay(from, stream)
		}
		return untilTermEnds(ctx, err)
	}
	ctx, end := s.config.Leader.term(ctx)
	defer end()
	was := false
	for sequence := uint64(0); ; {
		if err := s.config.Decisions.Wait(ctx, sequence); err != nil {
			return ended(ctx)
		}
		now, err := again(ctx)
		if err == nil {
			err = sightOf(now).mayIn(scaled.namespace)
		}
		if err != nil {
			return err
		}
		newest, recommended, _ := s.newest()
		sequence = newest.Sequence
		r := recommended[*scaled]
		is := !r.several && r.active()
		if is && !was {
			if err := stream.Send(&externalscaler.IsActiveResponse{Result: true}); err != nil {
				return err
			}
		}
		was = is
	}
}

// recommendation is what the last decision says, if it is not too old.
func (s *Scaler) recommendation(seen *sight, scaled *scaled) (recommendation, error) {
	newest, recommended, ok := s.newest()
	if !ok {
		return recommendation{}, status.Error(codes.Unavailable, "no decision has been made yet")
	}
	ttl := cmp.Or(s.config.TTL, scalerCycles*cmp.Or(newest.Decision.Fleet.Control.Cycle, planner.DefaultCycle))
	if age := time.Since(newest.Decision.At); ttl > 0 && age > ttl {
		return recommendation{}, status.Errorf(codes.Unavailable, "the last decision is %s old", age.Round(time.Second))
	}
	r, ok := recommended[*scaled]
	switch {
	case !ok:
		fleet, err := seen.fleet(newest.Decision.Fleet)
		if err == nil {
			err = scaled.unknown(&fleet)
		}
		return r, err
	case r.several:
		return r, status.Errorf(codes.NotFound, "several variants in namespace %q have the target %q: give its kind, as in %s/%s",
			scaled.namespace, scaled.target, r.kind, scaled.target)
	}
	return r, nil
}

// newest is the last decision with what it recommends; false before the first. Every decision is
// looked through once, however many ask.
func (s *Scaler) newest() (controller.Remembered, map[scaled]recommendation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest, ok := s.config.Decisions.Newest()
	if !ok {
		return newest, nil, false
	}
	if s.recommended == nil || s.sequence != newest.Sequence {
		s.sequence, s.recommended = newest.Sequence, recommendations(&newest.Entry)
	}
	return newest, s.recommended, true
}

// scaled is what a ScaledObject scales, in a namespace: a variant of a workload, or the
// variant with a target. Empty is a variant that needs no name, and a kind that is not said.
type scaled struct {
	namespace         string
	workload, variant string
	kind, target      string
}

// asked is what a caller asks about, if it may.
func asked(ctx context.Context, ref *externalscaler.ScaledObjectRef) (*scaled, error) {
	s, err := scaledOf(ref)
	if err != nil {
		return nil, invalid(err)
	}
	return s, sightOf(ctx).mayIn(s.namespace)
}

// scaledOf reads the metadata of a trigger.
func scaledOf(ref *externalscaler.ScaledObjectRef) (*scaled, error) {
	m := ref.GetScalerMetadata()
	s := &scaled{namespace: ref.GetNamespace(), workload: m["workload"], variant: m["variant"], target: m["target"]}
	var v message.Violations
	add := func(key, text string) {
		v = append(v, message.Violation{Path: "scalerMetadata." + key, Message: text})
	}
	if (s.workload == "") == (s.target == "") {
		add("workload", "either workload or target is needed, and not both")
	}
	if s.target != "" && s.variant != "" {
		add("variant", "goes with workload, not with target")
	}
	if kind, name, ok := strings.Cut(s.target, "/"); ok {
		s.kind, s.target = kind, name
		if kind == "" || name == "" {
			add("target", "is to be Kind/name or name")
		}
	}
	if namespace, name, ok := strings.Cut(s.workload, "/"); ok {
		s.namespace, s.workload = namespace, name
	}
	if len(v) > 0 {
		return nil, v
	}
	return s, nil
}

// may tells whether a workload may have the variant.
func (s *scaled) may(w *planner.Workload) bool {
	return w.Namespace == s.namespace && (s.workload == "" || w.Name == s.workload)
}

// unknown says what a fleet does not have.
func (s *scaled) unknown(f *planner.Fleet) error {
	if s.target != "" {
		return status.Errorf(codes.NotFound, "no variant in namespace %q has the target %q", s.namespace, strings.TrimPrefix(s.kind+"/"+s.target, "/"))
	}
	i := slices.IndexFunc(f.Workloads, func(w planner.Workload) bool { return s.may(&w) })
	if i < 0 {
		return known(f, (&planner.Workload{Namespace: s.namespace, Name: s.workload}).QualifiedName())
	}
	var names []string
	for j := range f.Workloads[i].Variants {
		names = append(names, f.Workloads[i].Variants[j].Name)
	}
	return status.Errorf(codes.NotFound, "workload %q has no variant %q; it has %s", f.Workloads[i].QualifiedName(), s.variant, strings.Join(names, ", "))
}
