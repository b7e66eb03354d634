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
// A [Filter] tracks the profile of a replica that serves production traffic, one window
// of about a minute after another: it starts from a fitted or guessed profile, refuses
// what makes no sense, and says when the replica has changed.
//
// [LeaveOneGroupOut] predicts each group of samples, for example each workload, by a
// fit to all others: the error that counts before a profile is believed.
// [FirstPrinciples] guesses a first profile of a model that nobody measured from
// facts about device and model.
//
// # How good it is
//
// On 816 published points of closed-loop tests (InferenceX; five models, H100 to B200,
// three engines, one fit per configuration, TTFT ignored) the median error of ITL is
// 1.0 % for dense models and 1.1 % for mixtures of experts. Where there are at least
// six workloads, one that the fit has not seen is predicted to 1.9 % and 1.5 % in the
// median. The form σ√n is not right for every mixture: three configurations of one
// (gpt-oss-120b on TensorRT-LLM) have 3 to 6 %, because their ITL flattens faster. A fit to two workloads can't tell reading the KV cache from prefill, and
// predicts a third to 11 % (dense) and 6 % (mixtures); with [FirstPrinciples] as the
// prior to 5 %.
//
// The true profile of simulated replicas under open-loop load, from 0.15 to 0.8 of
// saturation, predicts ITL to 0.2 % in the median and 0.8 % at the 90th percentile,
// mean TTFT to 0.4 % and 2 %, chunked and blocking prefill, outputs of 12 tokens and
// lengths that vary included. Outputs of fewer than 12 tokens at more than 0.7 of
// saturation are predicted up to 20 % too long.
//
// # Duties of the caller
//
// A profile belongs to one (model, accelerator, parallelism, engine): samples of
// different ones must not be mixed in one fit.
//
// A quantity that is not known is left missing, see [Quantity]. It is never zero.
//
// TTFT of a load test counts the wait for a place in the batch and start-up bursts,
// which no profile explains. Ignore it by [Options].Ignore unless the test was at low
// load, but give it: it tells how many requests decode at a time.
//
// Time is in seconds, rates are in requests per second and lengths are in tokens.
package calibration
