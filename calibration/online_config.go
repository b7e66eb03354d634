package calibration

import (
	"errors"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// FilterConfig says how far a [Filter] trusts its prior and its observations. Every
// field that is 0 has its default.
type FilterConfig struct {
	// PriorDeviation is the standard deviation of each coefficient of the prior,
	// relative to its value, from 0.01 to 2. Default 0.3.
	PriorDeviation float64
	// Unknown gives starting values to coefficients that the prior has as 0 but that
	// are to be tracked all the same: Sigma of what may be a mixture of experts, for
	// example. What is 0 here and in the prior stays 0.
	Unknown queueing.Profile
	// Memory is how long an observation counts, in seconds, from 600 on: after that
	// time the covariance has gone 63 % of the way back to that of the prior.
	// Default a week.
	Memory queueing.Seconds
	// MostChange is the factor, from 1.1 to 100, by which an estimate may be above or
	// below its prior. Default 10.
	MostChange float64
	// MostStep is the factor, from 1.001 to 2, by which a latency of one window may
	// move a coefficient. Default 1.2.
	MostStep float64
	// ChangeAfter is how many windows in a row, from 2 to 1000, must be implausible
	// in the same way before that is taken for a change of the replica. Default 5.
	ChangeAfter int
}

// Defaults of FilterConfig.
const (
	defaultPriorDeviation = 0.3
	defaultMemory         = 7 * 24 * 3600
	defaultMostChange     = 10
	defaultMostStep       = 1.2
	defaultChangeAfter    = 5
	// unknownDeviation is that of the logarithm of a coefficient of which only the
	// order of magnitude is given.
	unknownDeviation = 1
)

func (c *FilterConfig) validate() error {
	var v violations
	optional := func(field string, value, low, high float64) {
		if value != 0 {
			v.within(field, value, low, high)
		}
	}
	optional("filter.priorDeviation", c.PriorDeviation, 0.01, 2)
	validateProfile("filter.unknown", c.Unknown, &v)
	optional("filter.memory", float64(c.Memory), 600, math.MaxFloat64)
	optional("filter.mostChange", c.MostChange, 1.1, 100)
	optional("filter.mostStep", c.MostStep, 1.001, 2)
	optional("filter.changeAfter", float64(c.ChangeAfter), 2, 1000)
	return errors.Join(v...)
}

// completed returns the configuration with defaults in place of zeros.
func (c FilterConfig) completed() FilterConfig {
	c.PriorDeviation = orDefault(c.PriorDeviation, defaultPriorDeviation)
	c.Memory = orDefault(c.Memory, defaultMemory)
	c.MostChange = orDefault(c.MostChange, defaultMostChange)
	c.MostStep = orDefault(c.MostStep, defaultMostStep)
	c.ChangeAfter = orDefault(c.ChangeAfter, defaultChangeAfter)
	return c
}

func orDefault[T ~int | ~float64](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
