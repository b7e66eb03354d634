package forecast

import "time"

// State is what is remembered of the demand of one workload. The zero value has seen
// nothing. It is plain data without NaN and infinities, to be stored in any format.
// What its pointers and slices hold is shared between states and never changed.
type State struct {
	// Slot is the length of a slot, 0 before the first sample. A configuration with
	// another length starts anew.
	Slot time.Duration
	// Horizon is how far ahead predictions look.
	Horizon time.Duration
	// At and Rate are the last sample.
	At   time.Time
	Rate float64
	// Sum and Samples are of the samples in the slot of At, which is still open.
	Sum     float64
	Samples int
	// First is the number of the first of Days since 1970. A day without any sample
	// is nil.
	First int64
	Days  []*Day
}

// Day has the mean rates of the slots of one day, in UTC.
type Day struct {
	// Rates has a mean for each slot, in requests/s. Seven digits are enough for what
	// is counted, and halve the memory.
	Rates []float32
	// Seen has a bit for each slot, the lowest first: whether there was a sample.
	Seen []byte
}
