package server

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Loop is a loop as people see it and speak to it. A [controller.History] and a
// [controller.Pauses] make one.
type Loop interface {
	// Newest and Oldest are the last and the first entry remembered; After and Before the
	// nearest to a sequence number. False where there is none.
	Newest() (controller.Remembered, bool)
	Oldest() (controller.Remembered, bool)
	After(sequence uint64) (controller.Remembered, bool)
	Before(sequence uint64) (controller.Remembered, bool)
	// Wait returns when there is an entry beyond a sequence number, or when ctx ends.
	Wait(ctx context.Context, sequence uint64) error
	// Pause holds a workload, and Resume lets it go; At returns the pauses that hold at
	// a time.
	Pause(p planner.Pause)
	Resume(workload string) (planner.Pause, bool)
	At(now time.Time) []planner.Pause
}

// Fleet implements the FleetService.
type Fleet struct {
	poolwrightv1.UnimplementedFleetServiceServer
	loop  Loop
	shown shown
}

// NewFleet returns a service that shows a loop.
func NewFleet(l Loop) *Fleet { return &Fleet{loop: l} }

// GetFleet returns the fleet as the last decision saw it.
func (f *Fleet) GetFleet(ctx context.Context, m *poolwrightv1.GetFleetRequest) (*poolwrightv1.GetFleetResponse, error) {
	if err := message.Request(m); err != nil {
		return nil, invalid(err)
	}
	seen := sightOf(ctx)
	newest, fleet, err := f.newest(seen)
	if err != nil {
		return nil, err
	}
	decision, err := f.shown.decisionOf(newest, filter{view: m.GetView(), seen: seen})
	if err != nil {
		return nil, err
	}
	answer := &poolwrightv1.GetFleetResponse{Fleet: f.shown.fleetOf(newest, &fleet, seen), Decision: decision}
	for _, p := range f.loop.At(newest.Snapshot.Now) {
		if seen.has(namespaceOf(p.Workload)) {
			answer.Pauses = append(answer.Pauses, message.Pause(p))
		}
	}
	return answer, seen.err
}

// newest returns the last entry, and its fleet as far as it is seen; UNAVAILABLE before the first
// entry.
func (f *Fleet) newest(seen *sight) (controller.Remembered, planner.Fleet, error) {
	newest, ok := f.loop.Newest()
	if !ok {
		return newest, planner.Fleet{}, status.Error(codes.Unavailable, "no decision has been made yet")
	}
	fleet, err := seen.fleet(newest.Decision.Fleet)
	return newest, fleet, err
}

const (
	defaultPageSize = 50
	// pageBytes is when a page ends before it has as many decisions as it may: below the
	// 4 MiB that clients of gRPC take by default.
	pageBytes = 3 << 20
)

// ListDecisions returns a page of decisions, the newest first.
func (f *Fleet) ListDecisions(ctx context.Context, m *poolwrightv1.ListDecisionsRequest) (*poolwrightv1.ListDecisionsResponse, error) {
	if err := message.Request(m); err != nil {
		return nil, invalid(err)
	}
	before, err := pageStart(m)
	if err != nil {
		return nil, invalid(err)
	}
	seen := sightOf(ctx)
	if err := seen.may(m.GetWorkload()); err != nil {
		return nil, err
	}
	_, fleet, err := f.newest(seen)
	if err != nil {
		return nil, err
	}
	answer := &poolwrightv1.ListDecisionsResponse{}
	if oldest, ok := f.loop.Oldest(); ok {
		answer.OldestSequence = oldest.Sequence
	}
	size, bytes := int(m.GetPageSize()), 0
	if size == 0 {
		size = defaultPageSize
	}
	selected := filter{workload: m.GetWorkload(), changesOnly: m.GetChangesOnly(), view: m.GetView(), seen: seen}
	last := before
	for e, ok := f.loop.Before(before); ok && e.Sequence > m.GetAfterSequence(); e, ok = f.loop.Before(e.Sequence) {
		if err := ctx.Err(); err != nil {
			return nil, status.FromContextError(err).Err()
		}
		d, err := selected.decision(e)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		bytes += proto.Size(d)
		if n := len(answer.Decisions); n == size || n > 0 && bytes > pageBytes {
			answer.NextPageToken = pageToken(m, last)
			return answer, nil
		}
		answer.Decisions, last = append(answer.Decisions, d), e.Sequence
	}
	if len(answer.Decisions) == 0 && m.GetPageToken() == "" {
		return answer, known(&fleet, m.GetWorkload())
	}
	return answer, nil
}

// WatchDecisions sends decisions as they are made.
func (f *Fleet) WatchDecisions(m *poolwrightv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[poolwrightv1.WatchDecisionsResponse]) error {
	if err := message.Request(m); err != nil {
		return invalid(err)
	}
	// Callers that wait for the header learn that the stream stands.
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	after, err := f.watchStart(stream.Context(), m)
	if err != nil {
		return err
	}
	for {
		if err := f.loop.Wait(stream.Context(), after); err != nil {
			return ended(stream.Context())
		}
		e, _ := f.loop.After(after)
		if e.Sequence > after+1 {
			missed := &poolwrightv1.MissedDecisions{FirstSequence: after + 1, OldestSequence: e.Sequence}
			if err := stream.Send(&poolwrightv1.WatchDecisionsResponse{
				Event: &poolwrightv1.WatchDecisionsResponse_Missed{Missed: missed},
			}); err != nil {
				return err
			}
		}
		after = e.Sequence
		// What may be seen may change while a stream goes on.
		ctx, err := again(stream.Context())
		if err != nil {
			return err
		}
		selected := filter{workload: m.GetWorkload(), changesOnly: m.GetChangesOnly(), view: m.GetView(), seen: sightOf(ctx)}
		d, err := f.shown.decisionOf(e, selected)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		if err := stream.Send(&poolwrightv1.WatchDecisionsResponse{
			Event: &poolwrightv1.WatchDecisionsResponse_Decision{Decision: d},
		}); err != nil {
			return err
		}
	}
}

// watchStart waits for the first decision, and returns the sequence number after which
// to watch.
func (f *Fleet) watchStart(ctx context.Context, m *poolwrightv1.WatchDecisionsRequest) (uint64, error) {
	seen := sightOf(ctx)
	if err := seen.may(m.GetWorkload()); err != nil {
		return 0, err
	}
	if err := f.loop.Wait(ctx, 0); err != nil {
		return 0, ended(ctx)
	}
	newest, fleet, err := f.newest(seen)
	if err != nil {
		return 0, err
	}
	if err := known(&fleet, m.GetWorkload()); err != nil {
		return 0, err
	}
	switch after := m.GetAfterSequence(); {
	case m.AfterSequence == nil:
		return newest.Sequence - 1, nil
	case after > newest.Sequence:
		return 0, status.Errorf(codes.OutOfRange, "decision %d has not been made: the newest is %d", after, newest.Sequence)
	default:
		return after, nil
	}
}

// PauseWorkload holds a workload.
func (f *Fleet) PauseWorkload(ctx context.Context, m *poolwrightv1.PauseWorkloadRequest) (*poolwrightv1.Pause, error) {
	if err := message.Request(m); err != nil {
		return nil, invalid(err)
	}
	seen := sightOf(ctx)
	if err := seen.may(m.GetWorkload()); err != nil {
		return nil, err
	}
	newest, fleet, err := f.newest(seen)
	if err != nil {
		return nil, err
	}
	if err := known(&fleet, m.GetWorkload()); err != nil {
		return nil, err
	}
	pause := planner.Pause{Workload: m.GetWorkload(), Reason: m.GetReason()}
	switch {
	case m.GetTtl() != nil:
		pause.Until = newest.Snapshot.Now.Add(m.GetTtl().AsDuration())
	case m.GetExpireTime() != nil:
		if pause.Until = m.GetExpireTime().AsTime(); !pause.Until.After(newest.Snapshot.Now) {
			return nil, status.Errorf(codes.FailedPrecondition, "expireTime: %s is over: the clock of the loop says %s",
				pause.Until.Format(time.RFC3339), newest.Snapshot.Now.UTC().Format(time.RFC3339))
		}
	}
	f.loop.Pause(pause)
	return message.Pause(pause), nil
}

// ResumeWorkload lets a workload go.
func (f *Fleet) ResumeWorkload(ctx context.Context, m *poolwrightv1.ResumeWorkloadRequest) (*poolwrightv1.ResumeWorkloadResponse, error) {
	if err := message.Request(m); err != nil {
		return nil, invalid(err)
	}
	seen := sightOf(ctx)
	if err := seen.may(m.GetWorkload()); err != nil {
		return nil, err
	}
	pause, paused := f.loop.Resume(m.GetWorkload())
	if paused { // even where the workload is gone
		return &poolwrightv1.ResumeWorkloadResponse{Pause: message.Pause(pause)}, nil
	}
	_, fleet, err := f.newest(seen)
	if err != nil {
		return nil, err
	}
	if err := known(&fleet, m.GetWorkload()); err != nil {
		return nil, err
	}
	return &poolwrightv1.ResumeWorkloadResponse{}, nil
}
