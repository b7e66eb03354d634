package trace_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/trace"
)

// instant is a short time, added without rounding.
const instant = 1.0 / 1024

// value is the mean of a curve over the instant after a time.
func value(c trace.Curve, t float64) float64 { return c.Integral(t, t+instant) / instant }

func curve(t *testing.T, of func([]trace.Point) (trace.Curve, error), points ...trace.Point) trace.Curve {
	t.Helper()
	c, err := of(points)
	require.NoError(t, err)
	return c
}

func TestSteps(t *testing.T) {
	c := curve(t, trace.Steps, trace.Point{At: 0, Rate: 3}, trace.Point{At: 10, Rate: 5}, trace.Point{At: 20, Rate: 0})
	assert.InDelta(t, 30+50, c.Integral(0, 1e6), 1e-9)
	assert.InDelta(t, 3*2+5*1, c.Integral(8, 11), 1e-9)
	assert.InDelta(t, 5*5, c.From(5).Integral(10, 100)+c.From(5).Until(8).Integral(8, 100), 1e-9)
	assert.InDelta(t, 12, c.Until(12).End(), 0)
	assert.InDelta(t, 80*1.5, c.Times(1.5).Integral(0, 100), 1e-9)
	assert.Zero(t, trace.Curve{}.End())
}

func TestLinear(t *testing.T) {
	c := curve(t, trace.Linear, trace.Point{At: 0, Rate: 0}, trace.Point{At: 10, Rate: 20}, trace.Point{At: 20, Rate: 10})
	assert.InDelta(t, 100+150+10*5, c.Integral(0, 25), 1e-9)
	assert.InDelta(t, (10+16)/2.0*3, c.From(5).Integral(0, 3), 1e-9)
}

func TestCurveMistakes(t *testing.T) {
	_, err := trace.Linear([]trace.Point{{At: 1, Rate: -1}, {At: 1, Rate: math.NaN()}})
	require.EqualError(t, err, "trace: the first point of a curve must be at 0\n"+
		"trace: points[0]: rate -1 is not finite and ≥ 0\n"+
		"trace: points[1]: 1 s is not later than the point before\n"+
		"trace: points[1]: rate NaN is not finite and ≥ 0")
	_, err = trace.Steps(nil)
	require.Error(t, err)
	_, err = trace.Crowd{At: -1, Factor: math.Inf(1)}.Curve()
	require.ErrorContains(t, err, "flash crowd")
}

// The factors of hours and days begin at any time of the week.
func TestHoursAndDays(t *testing.T) {
	var hours [24]float64
	for i := range hours {
		hours[i] = float64(i)
	}
	const hour = 3600.0
	h, err := trace.Hours(hours, 22*hour, 30*hour)
	require.NoError(t, err)
	assert.InDelta(t, 30*hour, h.End(), 1e-6)
	for at, want := range map[float64]float64{0: 22, 0.5: 22.5, 1.5: 11.5, 2: 0, 3: 1, 25: 23, 25.25: 23 - 23.0/4} {
		assert.InDelta(t, want, value(h, at*hour), 0.01, "%g h", at)
	}
	d, err := trace.Days([7]float64{1, 2, 3, 4, 5, 6, 7}, 6.5*24*hour, 2*24*hour)
	require.NoError(t, err)
	for at, want := range map[float64]float64{0: 7, 11.9: 7, 12: 1, 35.9: 1, 36: 2, 47: 2} {
		assert.InDelta(t, want, value(d, at*hour), 1e-9, "%g h", at)
	}
}

func TestCrowd(t *testing.T) {
	c, err := trace.Crowd{At: 100, Rise: 10, Hold: 20, Decay: 40, Factor: 5}.Curve()
	require.NoError(t, err)
	for at, want := range map[float64]float64{0: 1, 99: 1, 105: 3, 110: 5, 129: 5, 150: 3, 171: 1, 1e6: 1} {
		assert.InDelta(t, want, value(c, at), 1e-3, "%g s", at)
	}
	at0, err := trace.Crowd{Hold: 5, Factor: 2}.Curve()
	require.NoError(t, err)
	assert.InDelta(t, 10+5, at0.Integral(0, 10), 1e-9)
}

// A product is that of the values, within what a minute's linear piece leaves out.
func TestProduct(t *testing.T) {
	a := curve(t, trace.Linear, trace.Point{At: 0, Rate: 10}, trace.Point{At: 5000, Rate: 110}, trace.Point{At: 9000, Rate: 20})
	b := curve(t, trace.Linear, trace.Point{At: 0, Rate: 1}, trace.Point{At: 1000, Rate: 3}, trace.Point{At: 1001, Rate: 0.5})
	c := curve(t, trace.Steps, trace.Point{At: 0, Rate: 2}, trace.Point{At: 4321, Rate: 7})
	p := trace.Product(8000, a, b, c)
	assert.InDelta(t, 8000, p.End(), 0)
	for at := 0.5; at < 8000; at += 17 {
		want := value(a, at) * value(b, at) * value(c, at)
		// A quarter of the product of the changes within a minute: 1.2 and 0.12, by 7 at most.
		assert.InDelta(t, want, value(p, at), 1.2*0.12*7/4+2e-3*want, "%g s", at)
	}
	assert.InDelta(t, 700, trace.Product(8000, a.Until(700), b).End(), 0)
}

func TestSeries(t *testing.T) {
	text := "t,x,a b,c\n600,9,1.5,\n1200,9,3,\n\n1800,9,,\n"
	c, err := trace.Series(inMemory(text), "a b")
	require.NoError(t, err)
	assert.InDelta(t, 1200, c.End(), 0)
	assert.InDelta(t, 1.5*600+3*600, c.Integral(0, 1e6), 1e-9)
	one, err := trace.Series(inMemory(compressed(t, "a,t\n5,0\n")), "a")
	require.NoError(t, err)
	assert.InDelta(t, 5*3600, one.Integral(0, 1e6), 1e-9)
}

func TestSeriesMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "f:0: it is empty",
		"x,a\n":                                 `f:1: there is no column "t"`,
		"t,b\n":                                 `f:1: there is no column "a" of rates`,
		"t,a\n":                                 "f:1: the column has no rates",
		"t,a\n1,\n":                             "f:2: the column has no rates",
		"t,a\n1,2,3\n2,2\n2,-1\n3,\n4,4\nx,2\n": "f:2: expected 2 columns\nf:4: rate \"-1\" is no number ≥ 0\nf:6: a rate follows an empty cell\nf:7: a rate follows an empty cell",
		"t,a\n1,2\n1,2\nx,2\n":                  "f:3: time 1 s is not later than that of the line before\nf:4: time \"x\" is no number",
	} {
		_, err := trace.Series(inMemory(text), "a")
		assert.EqualError(t, err, want, "%q", text)
	}
}
