package forecast

import (
	"errors"
	"fmt"
	"time"
)

// Config says how demand is remembered and predicted. Every field that is 0 has its
// default; what Validate refuses must not be used.
type Config struct {
	// Slot is the step of time: samples are averaged over it, and bands hold for
	// averages over it. From a minute to an hour, and a part of a day. It must not be
	// shorter than the time between samples. Default 5 minutes.
	Slot time.Duration
	// Days is how many days of slots are remembered, the present one included, from 3
	// to 28. Default 5.
	Days int
	// Quantile is the share of outcomes that the upper band is to cover, from 0.5 to
	// 0.999. Default 0.9.
	Quantile float64
}

// Defaults of Config.
const (
	defaultSlot     = 5 * time.Minute
	defaultDays     = 5
	defaultQuantile = 0.9
)

const day = 24 * time.Hour

// Validate returns all that is wrong with a configuration, nil if nothing is.
func (c Config) Validate() error {
	c = c.completed()
	var errs []error
	if c.Slot < time.Minute || c.Slot > time.Hour || day%c.Slot != 0 {
		errs = append(errs, fmt.Errorf("forecast: slot %v is not a part of a day from 1m to 1h", c.Slot))
	}
	if c.Days < 3 || c.Days > 28 {
		errs = append(errs, fmt.Errorf("forecast: days %d is not from 3 to 28", c.Days))
	}
	if !(c.Quantile >= 0.5 && c.Quantile <= 0.999) {
		errs = append(errs, fmt.Errorf("forecast: quantile %v is not from 0.5 to 0.999", c.Quantile))
	}
	return errors.Join(errs...)
}

// completed returns the configuration with defaults in place of zeros.
func (c Config) completed() Config {
	c.Slot = orDefault(c.Slot, defaultSlot)
	c.Days = orDefault(c.Days, defaultDays)
	c.Quantile = orDefault(c.Quantile, defaultQuantile)
	return c
}

func orDefault[T ~int | ~int64 | ~float64](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
