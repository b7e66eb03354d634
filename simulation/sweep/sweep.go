package sweep

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Sweep is a grid of settings of a simulation.
type Sweep struct {
	base       *poolwrightv1.Simulation
	dimensions []Dimension
	points     int
}

// New returns the sweep of a simulation over the product of dimensions.
//
// A path leads through the fields of the simulation or of its fleet, by their names in
// documents. Elements of lists are named by their name, with the namespace before it where
// there are several, or by their index; brackets hold names with dots. A pool stands for its
// capacity: pools.H100, workloads.chat.load.arrivalRate, workloads[llama-3.1].slo.ttft.p95,
// gateway.timeout, duration.
//
// The error names every path that leads nowhere or to what changes nothing, and every value that its
// field can't have.
// Whether the simulation of each point makes sense is for its reader to say.
func New(s *poolwrightv1.Simulation, dimensions []Dimension) (*Sweep, error) {
	sweep := &Sweep{base: s, dimensions: dimensions, points: 1}
	given := map[string]string{}
	var mistakes []error
	for _, d := range dimensions {
		fail := func(err error) { mistakes = append(mistakes, fmt.Errorf("sweep: %s: %w", d.Path, err)) }
		if sweep.points *= len(d.Values); sweep.points > MaxPoints {
			return nil, fmt.Errorf("sweep: more than %d points", MaxPoints)
		}
		if len(d.Values) == 0 {
			fail(errors.New("no value"))
		}
		m := proto.CloneOf(s)
		p, err := find(m, d.Path)
		if err != nil {
			fail(err)
			continue
		}
		if name, ok := trafficInstead(m, p); ok {
			fail(fmt.Errorf("changes nothing beside traffic.%s, which says what arrives", name))
		}
		if other, ok := given[p.path]; ok {
			fail(fmt.Errorf("is %s, which is varied already", other))
		}
		given[p.path] = d.Path
		seen := map[string]string{}
		for _, v := range d.Values {
			if err := p.set(v); err != nil {
				fail(fmt.Errorf("%s: %w", v, err))
				continue
			}
			text := p.text()
			if other, ok := seen[text]; ok {
				fail(fmt.Errorf("%s is %s, which is given already", v, other))
			}
			seen[text] = v
		}
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	_, err := sweep.At(0)
	return sweep, err
}

// trafficInstead is the name of the workload of whose load a place is the arrival rate, if its traffic says
// what arrives in place of that.
func trafficInstead(s *poolwrightv1.Simulation, p place) (name string, ok bool) {
	for _, w := range s.GetFleet().GetWorkloads() {
		if load := w.GetLoad(); load == p.message.Interface() && p.field.Name() == "arrival_rate" {
			_, name = namesOf(w.ProtoReflect())
		}
	}
	return name, name != "" && slices.ContainsFunc(s.GetTraffic(), func(t *poolwrightv1.Traffic) bool { return t.GetWorkload() == name })
}

// Points is the number of points, 1 without dimensions.
func (s *Sweep) Points() int { return s.points }

// Values returns the value of each dimension at a point; the last one runs fastest.
func (s *Sweep) Values(point int) []string {
	values := make([]string, len(s.dimensions))
	for i := len(s.dimensions) - 1; i >= 0; i-- {
		all := s.dimensions[i].Values
		values[i] = all[point%len(all)]
		point /= len(all)
	}
	return values
}

// At returns the simulation at a point, in [0, Points).
func (s *Sweep) At(point int) (*poolwrightv1.Simulation, error) {
	m := proto.CloneOf(s.base)
	places := make([]place, len(s.dimensions))
	// All before any is set: names may be varied, too.
	for i, d := range s.dimensions {
		p, err := find(m, d.Path)
		if err != nil {
			return nil, fmt.Errorf("sweep: %s: %w", d.Path, err)
		}
		places[i] = p
	}
	for i, v := range s.Values(point) {
		if err := places[i].set(v); err != nil {
			return nil, fmt.Errorf("sweep: %s: %s: %w", s.dimensions[i].Path, v, err)
		}
	}
	for i := range places {
		if places[i].excluded() {
			return nil, fmt.Errorf("sweep: %s can't be varied beside what is in its place then", s.dimensions[i].Path)
		}
	}
	return m, nil
}

// message returns a result without any point.
func (s *Sweep) message(shard Shard) (*poolwrightv1.Sweep, error) {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(s.base)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	m := &poolwrightv1.Sweep{Points: int32(s.points)} //nolint:gosec // at most MaxPoints
	for _, d := range s.dimensions {
		text = fmt.Appendf(text, "\n%q", d.String())
		m.Dimensions = append(m.Dimensions, &poolwrightv1.SweepDimension{Path: d.Path, Values: d.Values})
	}
	m.Digest = fmt.Sprintf("%x", sha256.Sum256(text))
	if shard != Whole {
		m.Shard = &poolwrightv1.SweepShard{Index: int32(shard.Index), Count: int32(shard.Count)} //nolint:gosec // at most MaxPoints
	}
	return m, nil
}
