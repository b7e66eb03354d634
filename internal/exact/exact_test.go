package exact_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/exact"
)

// rate has a type of its own, as units do.
type rate float64

// everything has a field of every kind of plain value.
type everything struct {
	Yes      bool
	Count    int
	Small    int8
	Sequence uint64
	Byte     byte
	Rate     rate
	Coarse   float32
	Name     string
	Length   time.Duration
	Some     []float64
	Bytes    []byte
	Matrix   [2][2]float64
	Nested   [][]int
	Inside   struct{ KVCacheTokens, SLO float64 }
	Pointer  *struct{ X int }
	Pointers []*float64
	ByName   map[string]*rate
	Shapes   []everything
}

// event is something at a time.
type event struct {
	At time.Time
	Of everything
}

// Whatever is written is read back, and then written as before.
func TestRoundTrip(t *testing.T) {
	random := func(unix uint32, nanoseconds uint32, of everything) bool {
		v := event{time.Unix(int64(unix), int64(nanoseconds)).UTC(), of}
		written, err := exact.Marshal(v)
		require.NoError(t, err)
		var read event
		require.NoError(t, exact.Unmarshal(written, &read), "%s", written)
		again, err := exact.Marshal(read)
		require.NoError(t, err)
		return assert.Equal(t, v, read) && assert.Equal(t, string(written), string(again))
	}
	require.NoError(t, quick.Check(random, &quick.Config{MaxCount: 200}))
}

// Every bit of a number counts.
func TestNumbersKeepTheirBits(t *testing.T) {
	same := func(bits uint64, coarse uint32) bool {
		type pair struct {
			A float64
			B float32
		}
		v := []pair{{math.Float64frombits(bits), math.Float32frombits(coarse)}}
		written, err := exact.Marshal(v)
		require.NoError(t, err)
		var read []pair
		require.NoError(t, exact.Unmarshal(written, &read), "%s", written)
		a := math.IsNaN(v[0].A) && math.IsNaN(read[0].A) || math.Float64bits(read[0].A) == bits
		b := v[0].B != v[0].B && read[0].B != read[0].B || math.Float32bits(read[0].B) == coarse
		return a && b
	}
	require.NoError(t, quick.Check(same, &quick.Config{MaxCount: 100_000}))
	for _, x := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64} {
		assert.True(t, same(math.Float64bits(x), math.Float32bits(float32(x))), "%g", x)
	}
}

func TestText(t *testing.T) {
	one := rate(1)
	berlin := time.FixedZone("", 3600)
	for want, v := range map[string]any{
		`{}`:                                   everything{},
		`null`:                                 []int(nil),
		`[]`:                                   []int{},
		`{"rate":-0}`:                          everything{Rate: rate(math.Copysign(0, -1))},
		`{"some":[]}`:                          everything{Some: []float64{}},
		`{"pointer":{}}`:                       everything{Pointer: &struct{ X int }{}},
		`{"pointers":[null]}`:                  everything{Pointers: []*float64{nil}},
		`{"shapes":[{},{}]}`:                   everything{Shapes: make([]everything, 2)},
		`["Inf","-Inf","NaN"]`:                 []float64{math.Inf(1), math.Inf(-1), math.NaN()},
		`{"byName":{"":null,"a b":1,"z\"":1}}`: everything{ByName: map[string]*rate{"z\"": &one, "": nil, "a b": &one}},
		`{"inside":{"kvCacheTokens":1e+06,"slo":0.1}}`: everything{Inside: struct{ KVCacheTokens, SLO float64 }{1e6, 0.1}},
		`{"at":"2026-03-01T11:00:00.5Z"}`:              event{At: time.Date(2026, 3, 1, 12, 0, 0, 5e8, berlin)},
		`{"length":1000000}`:                           everything{Length: time.Millisecond},
		`{"matrix":[[0,0],[-0,0]]}`:                    everything{Matrix: [2][2]float64{1: {math.Copysign(0, -1), 0}}},
		`{"name":"µ → \t\n<"}`:                         everything{Name: "µ → \t\n<"},
	} {
		written, err := exact.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(written))
	}
}

// Long texts are written in parts, which the writer may refuse.
func TestWriteInParts(t *testing.T) {
	v := make([]everything, 5000)
	for i := range v {
		v[i].Count = i
	}
	whole, err := exact.Marshal(v)
	require.NoError(t, err)
	var read []everything
	require.NoError(t, exact.Unmarshal(whole, &read))
	assert.Equal(t, v, read)
	for room := 0; room < len(whole); room += 20_000 {
		require.ErrorContains(t, exact.Write(&full{room: room}, v), "no room")
	}
	require.NoError(t, exact.Write(&full{room: len(whole)}, v))
}

// full takes so many bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errors.New("no room")
	}
	f.room -= len(p)
	return len(p), nil
}

func TestHiddenFieldsAreLeftOut(t *testing.T) {
	written, err := exact.Marshal(struct{ shown, Name string }{"x", "y"})
	require.NoError(t, err)
	assert.Equal(t, `{"name":"y"}`, string(written))
}

func TestMarshalRefusesWhatIsNotPlain(t *testing.T) {
	for want, v := range map[string]any{
		"shapes: [0]: some: no text for a value of kind interface": struct{ Shapes []struct{ Some any } }{[]struct{ Some any }{{1}}},
		"no text for a value of kind func":                         func() {},
		"no text for a value of kind invalid":                      nil,
		"no text for a key of kind int":                            map[int]int{},
		`"\xff" is not UTF-8`:                                      "\xff",
		"a: no text for a time in the year 10000":                  map[string]time.Time{"a": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := exact.Marshal(v)
		require.EqualError(t, err, "exact: "+want)
	}
}

func TestUnmarshalNamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"shapes":[{},{"count":1.5}]}`: "shapes: [1]: count: strconv.ParseInt",
		`{"small":300}`:                 "small: strconv.ParseInt: parsing \"300\": value out of range",
		`{"byte":-1}`:                   "byte: strconv.ParseUint",
		`{"rate":1e400}`:                "rate: strconv.ParseFloat",
		`{"rate":"fast"}`:               `rate: "fast" for a exact_test.rate`,
		`{"rate":true}`:                 "rate: true for a exact_test.rate",
		`{"rate":null}`:                 "rate: <nil> for a exact_test.rate",
		`{"name":1}`:                    "name: 1 for a string",
		`{"matrix":[[1,2]]}`:            "matrix: [1]: ] for a [2]float64",
		`{"matrix":[[1,2],[3,4],5]}`:    "matrix: more than 2 elements",
		`{"matrix":[[1,2],[3`:           "matrix: [1]: unexpected EOF",
		`{"some":{}}`:                   "some: { for a []float64",
		`{"byName":{"a":[]}}`:           "byName: a: [ for a exact_test.rate",
		`[]`:                            "[ for a exact_test.everything",
		`{"some":[1`:                    "unexpected EOF",
		`{"unknown":[1`:                 "unexpected EOF",
		``:                              "unexpected EOF",
		`{} {}`:                         "more than one value",
	} {
		var read everything
		err := exact.Unmarshal([]byte(text), &read)
		require.ErrorContains(t, err, "exact: ", text)
		require.ErrorContains(t, err, want, text)
	}
	var at event
	require.ErrorContains(t, exact.Unmarshal([]byte(`{"at":"today"}`), &at), "at: parsing time")
	require.ErrorContains(t, exact.Unmarshal([]byte(`{"at":{}}`), &at), "at: { for a time.Time")
	require.EqualError(t, exact.Unmarshal(nil, everything{}), "exact: exact_test.everything is no pointer to read into")
}

func TestUnmarshalPassesOverTheUnknown(t *testing.T) {
	var read everything
	require.NoError(t, exact.Unmarshal([]byte(`{"later":[{"a":{}},1],"count":2,"Count":3}`), &read))
	assert.Equal(t, everything{Count: 2}, read)
}

// What can be read at all is read the same again after it was written.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"rate":"NaN","some":[1,2e3,"Inf"],"byName":{"a":1}}`, `{"shapes":[{"name":"µ"}]}`, `{"bytes":[255]}`, `[`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var read, again everything
		if exact.Unmarshal(text, &read) != nil {
			return
		}
		written, err := exact.Marshal(read)
		require.NoError(t, err)
		require.NoError(t, exact.Unmarshal(written, &again))
		rewritten, err := exact.Marshal(again)
		require.NoError(t, err)
		assert.Equal(t, string(written), string(rewritten))
		assert.True(t, reflect.DeepEqual(read, again) || bytes.Contains(written, []byte("NaN")))
	})
}
