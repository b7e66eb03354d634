package message

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/forecast"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func (t *translation) control(m *poolwrightv1.Control) planner.Control {
	slot := m.GetForecast().GetSlot().AsDuration()
	if slot > 0 && 24*time.Hour%slot != 0 {
		t.violations.add("control.forecast.slot", "%s is not a part of a day", slot)
	}
	var devices optimizer.Bound
	if m != nil {
		devices = bound(m.DevicesPerCycle)
	}
	return planner.Control{
		Cycle:  m.GetCycle().AsDuration(),
		Policy: native(m.GetPolicy()),
		Forecast: forecast.Config{
			Slot: slot, Days: int(m.GetForecast().GetDays()), Quantile: m.GetForecast().GetQuantile(),
		},
		BacklogDrain:    m.GetBacklogDrain().AsDuration(),
		DevicesPerCycle: devices,
	}
}

// native is nil where no policy is given.
func native(m *poolwrightv1.Policy) *policy.Native {
	if m.GetNative() == nil {
		return nil
	}
	p := policy.DefaultNative()
	n := m.GetNative()
	for _, field := range []struct {
		to   *time.Duration
		from *durationpb.Duration
	}{{&p.ScaleDownWindow, n.GetScaleDownWindow()}, {&p.ZeroGrace, n.GetZeroGrace()}, {&p.MinInterval, n.GetMinInterval()}} {
		if field.from != nil {
			*field.to = field.from.AsDuration()
		}
	}
	if n.Tolerance != nil {
		p.Tolerance = n.GetTolerance()
	}
	return &p
}

// ofControl is nil where all has its defaults.
func ofControl(c *planner.Control) *poolwrightv1.Control {
	if *c == (planner.Control{}) {
		return nil
	}
	m := &poolwrightv1.Control{
		Cycle: unlessZero(c.Cycle), Policy: ofNative(c.Policy), BacklogDrain: unlessZero(c.BacklogDrain),
		DevicesPerCycle: ofBound(c.DevicesPerCycle),
	}
	if f := c.Forecast; f != (forecast.Config{}) {
		m.Forecast = &poolwrightv1.Forecast{Slot: unlessZero(f.Slot)}
		if f.Days != 0 {
			days := count(f.Days)
			m.Forecast.Days = &days
		}
		if f.Quantile != 0 {
			m.Forecast.Quantile = &f.Quantile
		}
	}
	return m
}

func ofNative(n *policy.Native) *poolwrightv1.Policy {
	if n == nil {
		return nil
	}
	tolerance := n.Tolerance
	return &poolwrightv1.Policy{Kind: &poolwrightv1.Policy_Native{Native: &poolwrightv1.NativePolicy{
		ScaleDownWindow: durationpb.New(n.ScaleDownWindow), Tolerance: &tolerance,
		ZeroGrace: durationpb.New(n.ZeroGrace), MinInterval: durationpb.New(n.MinInterval),
	}}}
}

// unlessZero is nil for 0, which stands for a default.
func unlessZero(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
