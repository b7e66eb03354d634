// Package scalers is the client of external scalers from KEDA's package of the same name,
// without the scalers of dozens of services beside it, which take minutes to compile. Its
// two files are compiled out of KEDA's module: tools/keda.sh lays them over this folder.
package scalers

// What those files import, so that go.mod has it.
import (
	_ "github.com/go-logr/logr"
	_ "github.com/kedacore/keda/v2/pkg/metricscollector"
	_ "github.com/kedacore/keda/v2/pkg/scalers/externalscaler"
	_ "github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
	_ "github.com/kedacore/keda/v2/pkg/util"
	_ "github.com/mitchellh/hashstructure/v2"
	_ "github.com/rcrowley/go-metrics"
	_ "google.golang.org/grpc"
	_ "k8s.io/api/autoscaling/v2"
	_ "k8s.io/apimachinery/pkg/api/resource"
	_ "k8s.io/metrics/pkg/apis/external_metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/log"
)

// externalMetricType is all that they use of KEDA's other files.
const externalMetricType = "External"
