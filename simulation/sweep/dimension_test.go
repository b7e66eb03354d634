package sweep_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/sweep"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"pools.H100=8..32:8":                         "pools.H100=8,16,24,32",
		"pools.H100=8..30:8":                         "pools.H100=8,16,24",
		"pools.H100=3..5":                            "pools.H100=3,4,5",
		"pools.H100=4":                               "pools.H100=4",
		"pools.H100=1,4..8:2,16":                     "pools.H100=1,4,6,8,16",
		"duration = 1h , 2h":                         "duration=1h,2h",
		"w.x.price=0.1..0.35:0.1":                    "w.x.price=0.1,0.2,0.3",
		"x=-1..0:0.25":                               "x=-1.00,-0.75,-0.50,-0.25,0.00",
		"gateway.timeout=30s..2m:30s":                "gateway.timeout=30s,1m0s,1m30s,2m0s",
		"gateway.timeout=1s..3s":                     "gateway.timeout=1s,2s,3s",
		"routing.strategy=LEAST_LOADED,PREFIX_AWARE": "routing.strategy=LEAST_LOADED,PREFIX_AWARE",
	} {
		d, err := sweep.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, d.String())
	}
}

func TestParseNamesEveryMistake(t *testing.T) {
	for text, want := range map[string][]string{
		"pools.H100":                {`"pools.H100" is not of the form path=values`},
		"=3":                        {`"=3" is not of the form path=values`},
		"a=":                        {"a: a value is empty"},
		"a=1,,2":                    {"a: a value is empty"},
		"a=5..1":                    {"a: range 5..1: 5 is above 1"},
		"a=1..5:0":                  {"a: range 1..5:0: step 0 is not above 0"},
		"a=1..5:x":                  {`a: range 1..5:x: "x" is no number`},
		"a=1..":                     {`a: range 1..: "" is no number`},
		"a=low..high":               {`a: range low..high: "low" is neither a number nor a duration`},
		"a=1m..10s":                 {"a: range 1m..10s: 1m is above 10s"},
		"a=1m..10m:-1s":             {"step -1s is not above 0"},
		"a=0..1000000":              {"more than 100000 values"},
		"a=0s..1000h:1ms":           {"more than 100000 values"},
		"a=5..1,x..y,3":             {"5 is above 1", `"x" is neither`},
		"a=-2000000h..2000000h:1ns": {"more than 100000 values"},
	} {
		_, err := sweep.Parse(text)
		require.Error(t, err, text)
		for _, part := range want {
			assert.Contains(t, err.Error(), part, text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"pools.H100=8..64:8", "a=1,2..3,x", "a=1s..3s", "a=0.1..0.2:0.05", "=", "a=1..1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := sweep.Parse(text)
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), "sweep: "), err.Error())
			return
		}
		require.NotEmpty(t, d.Values)
		require.LessOrEqual(t, len(d.Values), sweep.MaxPoints)
		again, err := sweep.Parse(d.String())
		require.NoError(t, err)
		assert.Equal(t, d, again)
	})
}
