package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/metrics"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/overlay"
)

// The engines that a fleet may name are those whose metrics are known.
func TestEngines(t *testing.T) {
	named := func(engine string) error {
		_, err := overlay.New(&poolwrightv1.Overlay{WorkloadDefaults: &poolwrightv1.WorkloadOverlay{
			Metrics: &poolwrightv1.MetricSeries{Engine: engine},
		}})
		return err
	}
	for _, engine := range metrics.Engines() {
		require.NoError(t, named(string(engine)))
	}
	all := strings.ReplaceAll(strings.Trim(fmt.Sprint(metrics.Engines()), "[]"), " ", ", ")
	require.EqualError(t, named("other"), "workloadDefaults.metrics.engine: must be in list ["+all+"]")
}
