package forecast

import "time"

// State is what is remembered of the demand of one workload. The zero value has seen
// nothing. It is plain data without NaN and infinities, to be stored in any format.
// What its pointers and slices hold is shared between states and never changed.
type State struct {
	// Slot is the length of a slot, 0 before the first sample. A configuration with
	// another length starts anew.
	Slot time.Duration
	// Horizon is how far ahead predictions look, and Lead the number of slots that it
	// reaches into.
	Horizon time.Duration
	Lead    int
	// At and Rate are the last sample, and Recent are the last ones with it, in order of
	// time.
	At     time.Time
	Rate   float64
	Recent []Sample
	// Mean is that of the Samples in the slot of At, which is still open.
	Mean    float64
	Samples int
	// First is the number of the first of Days since the year 1. A day without any sample
	// is nil.
	First int64
	Days  []*Day
	// Models is nil until the first slot closes.
	Models *Models
}

// Models is what the methods know, how well they did, and what they expect from the last
// closed slot on.
type Models struct {
	// Slot is the number of the last closed slot since the year 1, Rate its mean, Late
	// demand of late at its end, and Gap the number of slots without a sample between it
	// and the open one.
	Slot int64
	Rate float64
	Late Line
	Gap  int
	// Smoothing is nil until there are two days of history.
	Smoothing *Smoothing
	// Pending are the predictions whose slot has not closed yet, in order of time.
	Pending []Pending
	// Loss is the mean absolute error of each method, by Method, in requests/s, over
	// about the last day. Scored counts the slots since all methods are compared.
	Loss   [methods]float64
	Scored int
	// Errors are the last differences between what was observed and what the method
	// chosen at the time had predicted. Oldest is the place of the next one once
	// there are as many as are kept.
	Errors []float32
	Oldest int
	// Coverage is the share of outcomes within the band over about the last day, of
	// Judged altogether.
	Coverage float64
	Judged   int
	// Method is the one chosen. Near, Due and Beyond are its predictions for the open
	// slot, for the slot Lead−1 after it and for the next; Margin goes on top.
	Method            Method
	Near, Due, Beyond float64
	Margin            float64
}

// Pending is a prediction that waits for its slot to close.
type Pending struct {
	Slot int64
	// Points are the predictions of all methods, by Method. They are compared only if
	// there was history enough for all.
	Points   [methods]float64
	Compared bool
	// Method was the one chosen, and Upper the end of its band.
	Method Method
	Upper  float64
}
