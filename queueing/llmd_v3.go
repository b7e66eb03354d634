package queueing

import "math"

// llmdV3Budget is the family's token budget of one iteration, where the replica
// has none of its own.
const llmdV3Budget = 8192

// llmdV3 is [llmdV2] with chunked prefill. With M tokens per iteration, a prompt
// takes as many iterations as its chunks need for n requests to fit:
//
//	c(n) = least m ≥ 1 with ⌊(m+out)·(M - in/m)/(in+out)⌋ ≥ n
//	wp = (β + γ·(c+1)/2)·in   wd = β·out + γ·out·(in + (out+1)/2)
//	per = (wp+wd)/(c+out)
//	τ(n) = (c+out)·(α + n·per)
//	prefill(n) = c·max(0, α + (n-1)·per) + wp
//
// so that one of n ≥ 1 requests has ITL(n) = (τ(n) - prefill(n))/out = α + (n-1)·per + wd/out.
// With the mean time in service S and the mean batch n̄: ITL = (S - prefill(n̄))/out,
// TTFT = wait + prefill(n̄) + ITL.
type llmdV3 struct {
	llmdParameters
	budget float64
	// step is wd/out.
	step float64
	// work[n] is that at a batch of n = 0 … B.
	work []chunkedWork
}

// chunkedWork is the work on a request in iterations of a certain batch.
type chunkedWork struct {
	// chunks is c, prompt is wp, perIteration is per.
	chunks, prompt, perIteration float64
}

func newLLMDV3(r Replica, s Shape) *llmdV3 {
	m := &llmdV3{llmdParameters: newLLMDParameters(r, s), budget: llmdV3Budget, work: make([]chunkedWork, r.MaxBatch+1)}
	if r.MaxBatchedTokens > 0 {
		m.budget = float64(r.MaxBatchedTokens)
	}
	m.step = m.profile.Beta + m.profile.Gamma*(m.in+(m.out+1)/2)
	work, room := m.inChunks(1), m.room(1)
	for n := range m.work {
		if room < float64(n) {
			work = m.inChunks(m.leastChunks(float64(n)))
			room = m.room(work.chunks)
		}
		m.work[n] = work
	}
	return m
}

// inChunks returns the work on a prompt in c chunks and on its decoding.
func (m *llmdV3) inChunks(c float64) chunkedWork {
	prompt := (m.profile.Beta + m.profile.Gamma*(c+1)/2) * m.in
	return chunkedWork{c, prompt, (prompt + m.step*m.out) / (c + m.out)}
}

// room returns how many requests fit if prompts come in c chunks.
func (m *llmdV3) room(c float64) float64 {
	return math.Floor((c + m.out) * (m.budget - m.in/c) / (m.in + m.out))
}

// leastChunks returns c(n) for whole n.
func (m *llmdV3) leastChunks(n float64) float64 {
	// Without rounding down c solves M·c² + (M·out - in - n·(in+out))·c = in·out.
	linear := m.budget*m.out - m.in - n*(m.in+m.out)
	root := math.Sqrt(linear*linear + 4*m.budget*m.in*m.out)
	c := (root - linear) / (2 * m.budget)
	if linear > 0 {
		c = 2 * m.in * m.out / (root + linear)
	}
	c = max(1, math.Ceil(c))
	for m.room(c) < n {
		c++
	}
	for c > 1 && m.room(c-1) >= n {
		c--
	}
	return c
}

// at returns the work at a batch of n, a mean and so fractional.
func (m *llmdV3) at(n float64) *chunkedWork { return &m.work[int(math.Ceil(min(n, m.batch)))] }

func (m *llmdV3) serviceTime(n int) float64 {
	w := &m.work[n]
	return (w.chunks + m.out) * (m.profile.Alpha + float64(n)*w.perIteration)
}

func (m *llmdV3) prefill(n float64) float64 {
	w := m.at(n)
	return w.chunks*max(0, m.profile.Alpha+(n-1)*w.perIteration) + w.prompt
}

func (m *llmdV3) itlAt(n float64) float64 {
	return m.profile.Alpha + (n-1)*m.at(n).perIteration + m.step
}

func (m *llmdV3) times(running, service float64) times {
	prefill := m.prefill(running)
	itl := max((service-prefill)/m.out, 0)
	return times{prefill: prefill, first: prefill + itl, itl: itl}
}
