package saturation

import (
	"errors"
	"fmt"
	"math"
)

// Config is when a replica is saturated, and how much replicas must have to spare. Start
// from [DefaultConfig]; a zero is a zero, not a default.
type Config struct {
	// KVCacheThreshold is the KV usage, in (0, 1], from which on a replica is saturated.
	KVCacheThreshold float64
	// QueueLengthThreshold is the number of waiting requests, > 0, from which on a replica
	// is saturated.
	QueueLengthThreshold float64
	// KVSpareTrigger is the least KV usage, in [0, KVCacheThreshold], to spare on average.
	KVSpareTrigger float64
	// QueueSpareTrigger is the least number of waiting requests, in
	// [0, QueueLengthThreshold], to spare on average.
	QueueSpareTrigger float64
}

// DefaultConfig returns the values that the documentation recommends and its manifests set.
func DefaultConfig() Config {
	return Config{KVCacheThreshold: 0.8, QueueLengthThreshold: 5, KVSpareTrigger: 0.1, QueueSpareTrigger: 3}
}

// Validate returns every mistake, each with its path as a ConfigMap has it.
func (c *Config) Validate() error {
	return errors.Join(
		within("kvCacheThreshold", c.KVCacheThreshold, math.SmallestNonzeroFloat64, 1),
		within("queueLengthThreshold", c.QueueLengthThreshold, math.SmallestNonzeroFloat64, math.MaxFloat64),
		within("kvSpareTrigger", c.KVSpareTrigger, 0, c.KVCacheThreshold),
		within("queueSpareTrigger", c.QueueSpareTrigger, 0, c.QueueLengthThreshold),
	)
}

func within(path string, value, low, high float64) error {
	if value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("saturation: %s: %v is not in [%v, %v]", path, value, low, high)
}
