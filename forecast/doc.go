// Package forecast predicts demand at the time when new capacity becomes ready, with
// an upper band.
//
// A [State] is what is remembered of one workload. [Config.Observe] adds a sample and
// returns the next state; [Config.Predict] says what to expect one horizon ahead. Both
// are pure: a state is never changed, the next one shares with it what stayed the same.
//
// Four methods are compared on what they predicted before, and the one with the least
// error over the last day is taken: how demand has moved in the last minutes, how demand changed on the days before,
// what it was then, and exponential smoothing with two seasons. The band is drawn from
// the errors of what was chosen. docs/forecast.md has the formulas, and
// docs/forecast-accuracy.md says how well they do.
//
// # Duties of the caller
//
// It keeps the state of each workload, and gives samples in order of time. What is not
// known is not given: a gap is a gap, never zero.
//
// Rates are in requests per second.
package forecast
