package document_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// longFleet has so many workloads that several processors share them.
func longFleet() *poolwrightv1.Fleet {
	fleet := sample()
	for i := range 2000 {
		w := proto.CloneOf(fleet.GetWorkloads()[0])
		w.Name = fmt.Sprintf("w%d", i)
		fleet.Workloads = append(fleet.Workloads, w)
	}
	return fleet
}

func onProcessors(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, processors := range []int{1, 4} {
		t.Run(fmt.Sprintf("processors=%d", processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			test(t)
		})
	}
}

func TestLongLists(t *testing.T) {
	fleet := longFleet()
	onProcessors(t, func(t *testing.T) {
		requireLikeProtojson(t, fleet)
		data, err := document.MarshalJSON(fleet)
		require.NoError(t, err)
		got := &poolwrightv1.Fleet{}
		require.NoError(t, document.Unmarshal(data, got))
		require.True(t, proto.Equal(fleet, got))
	})
}

func TestMistakesInLongLists(t *testing.T) {
	const workloads = 3000
	var text strings.Builder
	text.WriteString(`{"workloads": [`)
	for i := range workloads {
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, `{"name": "w%d", "priority": "high"}`, i)
	}
	text.WriteString(`], "objective": 1}`)
	onProcessors(t, func(t *testing.T) {
		fleet := &poolwrightv1.Fleet{}
		var mistakes *document.Error
		require.ErrorAs(t, document.Unmarshal([]byte(text.String()), fleet), &mistakes)
		require.Equal(t, workloads+1, mistakes.Count())
		require.Len(t, mistakes.Violations, 1000, "the first are kept")
		for i, v := range mistakes.Violations {
			require.Equal(t, fmt.Sprintf("workloads[%d].priority", i), v.Path)
			require.Equal(t, i+1, v.Line)
		}
		require.Equal(t, "w2999", fleet.GetWorkloads()[2999].GetName(), "the rest is read")
	})
}

func TestFirstErrorOfLongLists(t *testing.T) {
	fleet := longFleet()
	fleet.Workloads[700].Name = "first\xff"
	fleet.Workloads[1900].Variants[0].Startup = &durationpb.Duration{Nanos: -1e9}
	onProcessors(t, func(t *testing.T) {
		_, err := document.MarshalJSON(fleet)
		require.EqualError(t, err, `document: text "first\xff" is not UTF-8`)
	})
}
