package kthena_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/kthena"
)

func decimal(t *testing.T, text string) kthena.Decimal {
	t.Helper()
	d, err := kthena.ParseDecimal(text)
	require.NoError(t, err)
	return d
}

// TestRatioOfEveryPair keeps bounds always, and proportion wherever it says so.
func TestRatioOfEveryPair(t *testing.T) {
	for _, limits := range [][2]string{{"0", "1"}, {"0.5", "0.5"}, {"0.3", "1.7"}, {"2", "4"}} {
		r := kthena.RoleRatio{
			Least: decimal(t, limits[0]), Most: decimal(t, limits[1]),
			Prefill: kthena.Bounds{Min: 1, Max: 9}, Decode: kthena.Bounds{Min: 0, Max: 6},
		}
		require.NoError(t, r.Validate())
		for p := -1; p <= 12; p++ {
			for q := -1; q <= 9; q++ {
				kept, adjusted, violated := r.Keep(kthena.Pair{Prefill: p, Decode: q})
				assert.LessOrEqual(t, 1, kept.Prefill)
				assert.LessOrEqual(t, kept.Prefill, 9)
				assert.LessOrEqual(t, 0, kept.Decode)
				assert.LessOrEqual(t, kept.Decode, 6)
				assert.Equal(t, violated, outside(kept, limits))
				clamped := kthena.Pair{Prefill: min(max(p, 1), 9), Decode: min(max(q, 0), 6)}
				assert.Equal(t, adjusted, outside(clamped, limits))
				if !adjusted {
					assert.Equal(t, clamped, kept)
				}
			}
		}
	}
}

// outside compares in fractions.
func outside(pair kthena.Pair, limits [2]string) bool {
	least, _ := new(big.Rat).SetString(limits[0])
	most, _ := new(big.Rat).SetString(limits[1])
	decode := big.NewRat(int64(pair.Decode), 1)
	prefill := big.NewRat(int64(pair.Prefill), 1)
	return prefill.Cmp(least.Mul(least, decode)) < 0 || prefill.Cmp(most.Mul(most, decode)) > 0
}

func TestDecimals(t *testing.T) {
	for text, want := range map[string]string{"0.10": "0.1", "12": "12", "0": "0", "1.": "1", "999.999999": "999.999999"} {
		assert.Equal(t, want, decimal(t, text).String())
	}
	for _, text := range []string{"", ".", "-1", "1e3", "0.0000001", "1000.000001", "NaN", "1.2.3"} {
		_, err := kthena.ParseDecimal(text)
		require.Error(t, err, text)
	}
}

func TestRatioValidateNamesEveryMistake(t *testing.T) {
	r := kthena.RoleRatio{
		Least: decimal(t, "2"), Most: decimal(t, "1"),
		Prefill: kthena.Bounds{Min: 5, Max: 4}, Decode: kthena.Bounds{Min: -1, Max: 2},
	}
	err := r.Validate()
	require.ErrorContains(t, err, "kthena: ratio.maxRatio: 1 is less than minRatio 2")
	require.ErrorContains(t, err, "kthena: prefill.maxReplicas: 4 is not in [5, 1000000]")
	require.ErrorContains(t, err, "kthena: decode.minReplicas: -1 is not in [0, 1000000]")
	require.ErrorContains(t, (&kthena.RoleRatio{Least: kthena.Decimal{Places: 7}}).Validate(), "ratio.minRatio")
	require.ErrorContains(t, (&kthena.RoleRatio{}).Validate(), "ratio.maxRatio: 0 is not in (0, ∞)")
}
