package architecture

import "slices"

const module = "github.com/poolwright/poolwright/"

// layer says what a package may import of this module. It is the diagram of the
// architecture: an arrow that is not here is an offence, and so is a package that
// is not here.
type layer struct {
	folder string
	core   bool
	may    []string
}

var (
	kernels = []string{"calibration", "forecast", "internal/parallel", "optimizer", "optimizer/greedy", "optimizer/lp", "policy", "policy/hpa", "policy/knative", "policy/kthena", "queueing"}
	pure    = slices.Concat(kernels, []string{"planner"})
	schema  = []string{"internal/document", "internal/message", "proto/poolwright/v1"}
)

var layers = []layer{
	// The pure core.
	{folder: "internal/parallel", core: true},
	{folder: "queueing", core: true},
	{folder: "forecast", core: true},
	{folder: "policy", core: true},
	{folder: "policy/hpa", core: true, may: []string{"policy"}},
	{folder: "policy/knative", core: true, may: []string{"policy"}},
	{folder: "policy/kthena", core: true, may: []string{"policy"}},
	{folder: "policy/saturation", core: true, may: []string{"policy"}},
	{folder: "optimizer/lp", core: true},
	{folder: "optimizer", core: true, may: []string{"internal/parallel", "optimizer/lp", "queueing"}},
	{folder: "optimizer/greedy", core: true, may: []string{"optimizer"}},
	{folder: "calibration", core: true, may: []string{"queueing"}},
	{folder: "planner", core: true, may: kernels},
	{folder: "simulation/replica", core: true, may: []string{"queueing"}},
	{folder: "simulation/hindsight", core: true, may: pure},

	// The schema and its translation.
	{folder: "proto/poolwright/v1"},
	{folder: "proto/externalscaler"},
	{folder: "internal/document", may: []string{"internal/parallel"}},
	{folder: "internal/exact"},
	{folder: "internal/handbook"},
	{folder: "internal/plot"},
	{folder: "internal/protodoc"},
	{folder: "internal/protodoc/protodoctest"},
	{folder: "internal/message/messagetest"},
	{folder: "internal/short"},
	{folder: "internal/instance", may: []string{"optimizer"}},
	{folder: "internal/message", may: slices.Concat(pure, []string{"internal/document", "proto/poolwright/v1", "simulation", "simulation/autoscaler", "simulation/study", "simulation/trace"})},

	// The loop, and what implements its interfaces.
	{folder: "controller", may: pure},
	{folder: "controller/ledger", may: slices.Concat(pure, []string{"controller", "internal/exact"})},
	{folder: "internal/election"},
	{folder: "internal/kube"},
	{folder: "internal/resource", may: pure},
	{folder: "internal/resource/resourcetest", may: []string{"internal/resource"}},
	{folder: "internal/resource/servertest", may: []string{"internal/controlplane", "internal/resource", "internal/resource/resourcetest"}},
	{folder: "actuator", may: slices.Concat(pure, []string{"controller", "internal/kube", "internal/resource"})},
	{folder: "internal/tracing", may: slices.Concat(pure, []string{"controller"})},
	{folder: "metrics", may: slices.Concat(pure, []string{"controller", "internal/tracing"})},
	{folder: "internal/telemetry", may: slices.Concat(pure, []string{"controller", "metrics"})},
	{folder: "simulation/trace", may: []string{"queueing", "simulation/replica"}},
	{folder: "simulation", may: slices.Concat(pure, []string{"controller", "simulation/replica", "simulation/trace"})},
	{folder: "simulation/autoscaler", may: slices.Concat(pure, []string{"controller", "policy/saturation", "simulation", "simulation/hindsight", "simulation/trace"})},
	{folder: "simulation/study", may: slices.Concat(pure, []string{"simulation", "simulation/trace"})},
	{folder: "simulation/report", may: []string{"internal/document", "proto/poolwright/v1", "web"}},
	{folder: "simulation/sweep", may: schema},
	{folder: "internal/whatif", may: slices.Concat(pure, schema, []string{"controller", "simulation", "simulation/autoscaler", "simulation/hindsight", "simulation/study", "simulation/trace"})},
	{folder: "internal/scenario", may: slices.Concat(pure, schema, []string{"controller", "simulation"})},
	{folder: "sources", may: slices.Concat(pure, schema, []string{"controller"})},
	{folder: "sources/cluster", may: slices.Concat(pure, schema, []string{"controller", "internal/resource", "metrics", "sources/overlay"})},
	{folder: "sources/cluster/clustertest", may: slices.Concat(pure, []string{"actuator", "controller", "internal/controlplane", "internal/kube", "internal/resource", "sources/cluster", "sources/overlay"})},
	{folder: "sources/kthena", may: slices.Concat(pure, []string{"internal/resource"})},
	{folder: "sources/llmaz", may: slices.Concat(pure, []string{"internal/resource"})},
	{folder: "sources/llmd", may: slices.Concat(pure, []string{"internal/resource"})},
	{folder: "sources/overlay", may: slices.Concat(pure, schema, []string{"internal/resource"})},
	{folder: "sources/plain", may: slices.Concat(pure, []string{"internal/resource"})},

	// Ways in.
	{folder: "internal/access"},
	{folder: "internal/access/accesstest"},
	{folder: "web"},
	{folder: "server", may: slices.Concat(pure, schema, []string{"controller", "internal/access", "proto/externalscaler", "web"})},

	// What puts it together. Nothing else may import config.
	{folder: "config", may: slices.Concat(pure, schema, []string{"internal/protodoc", "actuator", "controller", "internal/access", "internal/election", "internal/kube", "metrics", "server", "simulation", "sources", "sources/llmd", "sources/overlay", "web"})},
	{folder: "internal/app", may: slices.Concat(pure, schema, []string{"actuator", "config", "controller", "controller/ledger", "examples", "internal/access", "internal/election", "internal/kube", "internal/plot", "internal/resource", "internal/telemetry", "internal/tracing", "internal/whatif", "metrics", "proto/externalscaler", "server", "simulation", "simulation/autoscaler", "simulation/report", "simulation/sweep", "sources", "sources/cluster", "sources/kthena", "sources/llmaz", "sources/llmd", "sources/overlay", "sources/plain", "web"})},
	{folder: "cmd/poolwright", may: []string{"config", "internal/app", "optimizer/lp"}},

	{folder: "examples"},
	{folder: "examples/generate", may: schema},
	{folder: "examples/samples", may: []string{"queueing", "simulation/replica"}},
	{folder: "internal/architecture"},
	{folder: "internal/controlplane"},
	{folder: "test/e2e"},
	{folder: "test/packaging"},
	{folder: "test/scale"},
	{folder: "internal/fakeengine", may: []string{"metrics", "queueing", "simulation/replica"}},
}

func layerOf(folder string) (layer, bool) {
	i := slices.IndexFunc(layers, func(l layer) bool { return l.folder == folder })
	if i < 0 {
		return layer{}, false
	}
	return layers[i], true
}

// coreImports is what the core may import beside gonum and itself: nothing that
// reads, writes, waits, logs or tells the time. Package time is for durations.
var coreImports = []string{
	"bytes", "cmp", "container/heap", "container/list", "encoding/binary", "errors", "fmt", "hash/fnv", "iter", "maps",
	"math", "math/big", "math/bits", "math/cmplx", "math/rand/v2", "runtime", "slices", "sort", "strconv", "strings",
	"sync", "sync/atomic", "time", "unicode", "unicode/utf8",
}

// binding is the only package of the core that may call C.
const binding = "optimizer/lp"

// coreCalls is what the core may not use of the packages that it may import: a
// clock, a timer, random numbers without a seed, printing.
var coreCalls = map[string][]string{
	"time": {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
	"math/rand/v2": {
		"ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64",
		"Perm", "Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN",
	},
	"fmt": {"Fscan", "Fscanf", "Fscanln", "Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}
