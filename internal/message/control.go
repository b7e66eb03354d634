package message

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/forecast"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
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
		Policy: t.policy(m.GetPolicy(), "control.policy"),
		Forecast: forecast.Config{
			Slot: slot, Days: int(m.GetForecast().GetDays()), Quantile: m.GetForecast().GetQuantile(),
		},
		BacklogDrain:    m.GetBacklogDrain().AsDuration(),
		DevicesPerCycle: devices,
	}
}

// ofControl is nil where all has its defaults.
func ofControl(c *planner.Control) *poolwrightv1.Control {
	if *c == (planner.Control{}) {
		return nil
	}
	m := &poolwrightv1.Control{
		Cycle: unlessZero(c.Cycle), Policy: ofPolicy(c.Policy), BacklogDrain: unlessZero(c.BacklogDrain),
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

// unlessZero is nil for 0, which stands for a default.
func unlessZero(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
