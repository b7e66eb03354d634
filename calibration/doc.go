// Package calibration estimates profiles, and says when not to trust them.
//
// [Fit] estimates the coefficients of a [queueing.Profile] from measurements of any
// mix of kinds: pure decode points, pure prefill points, closed-loop load tests and
// points of open-loop or production traffic, see [Sample]. The estimate is the
// non-negative weighted least-squares solution on relative error, made robust
// against outliers. Every coefficient comes with a standard error, a confidence
// interval and whether the samples tell it apart from the others at all; one that
// they don't keeps its prior value, and says why.
//
// [LeaveOneGroupOut] predicts each group of samples, for example each workload, by a
// fit to all others: the error that counts before a profile is believed.
// [FirstPrinciples] guesses a first profile of a model that nobody measured from
// facts about device and model.
//
// # Duties of the caller
//
// A profile belongs to one (model, accelerator, parallelism, engine): samples of
// different ones must not be mixed in one fit.
//
// A quantity that is not known is left missing, see [Quantity]. It is never zero.
//
// TTFT of a load test counts the wait for a place in the batch and start-up bursts,
// which no profile explains. Leave it out by [Options].Ignore unless the test was
// at low load.
//
// Time is in seconds, rates are in requests per second and lengths are in tokens.
package calibration
