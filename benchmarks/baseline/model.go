package baseline

import "math"

// Model is a generation of the family. Its coefficients are those of the
// queueing package's models of the same names.
type Model int

const (
	// V0 takes Alpha and Beta. At most ten times MaxBatch requests are inside.
	V0 Model = iota
	// V1 takes Alpha and Beta for decoding, Gamma and Delta for prefill.
	V1
	// V2 takes Alpha, Beta per computed token and Gamma per KV token.
	V2
	// V3 is V2 with chunked prefill, in iterations of 8192 tokens.
	V3
)

// chunkBudget is the number of tokens of one iteration in V3.
const chunkBudget = 8192

// Replica is one replica and the requests that it serves.
type Replica struct {
	Model                     Model
	Alpha, Beta, Gamma, Delta float32
	// In and Out are the tokens of every request; Out ≥ 1.
	In, Out float32
	// MaxBatch ≥ 1 requests run together, MaxQueue ≥ 0 wait.
	MaxBatch, MaxQueue int
}

// capacity returns the most requests inside.
func (r *Replica) capacity() int {
	if r.Model == V0 {
		return 10 * r.MaxBatch
	}
	return r.MaxBatch + r.MaxQueue
}

// serviceTime returns τ(n), the time of one request while n run together.
func (r *Replica) serviceTime(n float32) float32 {
	switch r.Model {
	case V0:
		return r.Out * (r.Alpha + r.Beta*n)
	case V1:
		steps := r.Out - 1
		if r.In == 0 && r.Out == 1 {
			steps = 1
		}
		return r.prefill(n) + steps*(r.Alpha+r.Beta*n)
	case V2:
		return r.prefill(n) + r.Out*(r.iteration(n)+r.Beta+r.Gamma*(r.In+r.Out/2))
	default:
		chunks, _, perIteration := r.chunked(n)
		return (chunks + r.Out) * (r.Alpha + n*perIteration)
	}
}

// prefill returns the time of one prefill while n requests run together.
func (r *Replica) prefill(n float32) float32 {
	switch {
	case r.Model == V3:
		chunks, prompt, perIteration := r.chunked(n)
		return chunks*max(0, r.Alpha+(n-1)*perIteration) + prompt
	case r.In == 0 || r.Model == V0:
		return 0
	case r.Model == V1:
		return r.Gamma + r.Delta*r.In*n
	default:
		return r.iteration(n) + (r.Beta+r.Gamma)*r.In
	}
}

// iteration returns the time of one iteration of n requests in V2.
func (r *Replica) iteration(n float32) float32 {
	return r.Alpha + n*(r.Beta*(r.In+r.Out)/(r.Out+1)+r.Gamma*(r.In+r.Out/2))
}

// chunked returns, for V3 with n requests in the batch, the number of chunks of a
// prompt, the time that computing the prompt adds, and the time that each request
// adds to an iteration.
func (r *Replica) chunked(n float32) (chunks, prompt, perIteration float32) {
	for chunks = 1; !r.fits(n, chunks); {
		chunks++
	}
	prompt = (r.Beta + r.Gamma*(chunks+1)/2) * r.In
	decode := r.Beta*r.Out + r.Gamma*r.Out*(r.In+(r.Out+1)/2)
	return chunks, prompt, (prompt + decode) / (chunks + r.Out)
}

// fits tells whether prompts in that many chunks leave room for n requests.
func (r *Replica) fits(n, chunks float32) bool {
	room := (chunks + r.Out) * (chunkBudget - r.In/chunks) / (r.In + r.Out)
	return float32(math.Floor(float64(room))) >= n
}

// latencies returns the family's times from the mean time in service, the mean
// wait and the mean number of running requests.
func (r *Replica) latencies(s state) (prefill, itl, ttft float32) {
	switch r.Model {
	case V0:
		return 0, s.service / r.Out, s.wait
	case V1:
		n := r.effectiveBatch(s.service)
		prefill = r.prefill(n)
		return prefill, r.Alpha + r.Beta*n, s.wait + prefill
	default:
		prefill = r.prefill(s.running)
		itl = (s.service - prefill) / r.Out
		return prefill, itl, s.wait + prefill + itl
	}
}

// effectiveBatch returns the batch at which V1 takes that time in service.
func (r *Replica) effectiveBatch(service float32) float32 {
	constant := r.Gamma + r.Alpha*(r.Out-1)
	slope := r.Delta*r.In + r.Beta*(r.Out-1)
	return min(max((service-constant)/slope, 0), float32(r.MaxBatch))
}
