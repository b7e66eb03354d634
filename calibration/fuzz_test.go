package calibration

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// decoder makes values of bytes, until there are none.
type decoder struct{ data []byte }

func (d *decoder) byte() byte {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

// number is mostly a power of two with a fraction, sometimes any number at all.
func (d *decoder) number() float64 {
	kind := d.byte()
	if kind >= 250 && len(d.data) >= 8 {
		bits := binary.LittleEndian.Uint64(d.data)
		d.data = d.data[8:]
		return math.Float64frombits(bits)
	}
	return math.Ldexp(1+float64(d.byte())/256, int(kind%64)-32)
}

func (d *decoder) sample() Sample {
	s := Sample{Group: string('a' + rune(d.byte()%3))}
	fields := []*Quantity{&s.ITL, &s.TTFT, &s.Weight, &s.OutputSCV, &s.PrefixHitRatio, &s.InputSCV, &s.Running, &s.Waiting}
	switch d.byte() % 4 {
	case 0:
		fields = append(fields[:1], &s.Batch, &s.ContextTokens)
	case 1:
		fields = append(fields[1:2], &s.InputTokens)
	case 2:
		fields = append(fields[:6], &s.Concurrency, &s.InputTokens, &s.OutputTokens)
	default:
		fields = append(fields, &s.ArrivalRate, &s.InputTokens, &s.OutputTokens)
	}
	missing := d.byte()
	for i, q := range fields {
		if missing&(1<<i) == 0 || i > 7 {
			*q = Of(d.number())
		}
	}
	return s
}

func (d *decoder) options() Options {
	o := Options{
		SquareRoot:  SquareRoot(d.byte() % 3),
		PrefillMode: queueing.PrefillMode(d.byte() % 2),
		HeldOut:     d.byte()%4 == 0,
	}
	switch d.byte() % 4 {
	case 0:
		o.MaxBatch, o.MaxBatchedTokens = 1+int(d.byte()), queueing.Tokens(d.number())
	case 1:
		o.KVCacheTokens, o.AcceptedTokens = queueing.Tokens(d.number()), 1+float64(d.byte())/64
	case 2:
		o.Prior = queueing.Profile{Alpha: d.number(), Kappa: d.number(), Delta: d.number()}
	}
	return o
}

// FuzzFit requires that whatever is accepted gives finite, non-negative numbers.
func FuzzFit(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 3, 0, 0, 0, 25, 0, 40, 0, 36, 0, 0, 1, 0, 26, 0, 42, 1})
	random := rand.NewChaCha8([32]byte{40})
	for range 30 {
		data := make([]byte, 200)
		_, err := random.Read(data)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &decoder{data}
		options := d.options()
		var samples []Sample
		for len(d.data) > 0 && len(samples) < 30 {
			samples = append(samples, d.sample())
		}
		// Samples with mistakes are refused; the valid ones among them are not.
		samples = slices.DeleteFunc(samples, func(s Sample) bool { return validate([]Sample{s}, Options{}) != nil })
		e, err := Fit(samples, options)
		if err != nil {
			return
		}
		for _, c := range e.Coefficients {
			require.False(t, math.IsNaN(c.Value) || math.IsInf(c.Value, 0) || c.Value < 0, "%+v", c)
			require.LessOrEqual(t, c.Value, maxSeconds)
			require.False(t, math.IsNaN(c.StandardError) || c.StandardError < 0, "%+v", c)
			require.LessOrEqual(t, c.Confidence.Low, c.Value)
			require.GreaterOrEqual(t, c.Confidence.High, c.Value)
		}
		for _, r := range e.Residuals {
			require.False(t, math.IsNaN(r.Predicted) || math.IsInf(r.Predicted, 0), "%+v", r)
		}
	})
}
