//go:build e2e && linux

package llmd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/servertest"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/llmd"
)

// apiServer is a real API server with our definition and the examples.
type apiServer struct {
	*servertest.Server
	t *testing.T
}

func newServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{servertest.New(t), t}
	require.NoError(t, s.AddNodes(t.Context(),
		controlplane.GPUNode("a100-0", "NVIDIA-A100-PCIE-80GB", 8),
		controlplane.GPUNode("h100-0", "NVIDIA-H100-80GB-HBM3", 8),
		controlplane.GPUNode("l40s-0", "NVIDIA-L40S", 8),
	))
	s.Define("../../" + definition)
	for _, name := range []string{"config", "flat", "perfparms", "targetref"} {
		s.Apply("../../examples/cluster/llmd/" + name + ".yaml")
	}
	return s
}

// in is the same server in a part of the test.
func (s *apiServer) in(t *testing.T) *apiServer { return &apiServer{s.In(t), t} }

// patches are those of all workloads after a cycle at a time.
func (s *apiServer) patches(now time.Time, rate float64) []resource.Patch {
	s.t.Helper()
	c := newWorld(s.t)
	c.now = now
	for _, accelerator := range []string{"A100", "MI300X", "G2", "H100", "L40S"} {
		c.addPool(accelerator, 10, 32)
	}
	c.pools[2].Capacity = optimizer.Bound{Limited: true}
	c.overlay = "replicas: [{match: {accelerator: H100}, capacityRps: 4}, {match: {accelerator: L40S}, capacityRps: 1.5}]"
	view := s.View(llmd.NewReader(llmd.Config{}).Kinds())
	workloads, skipped := c.reader.Read(view)
	require.Empty(s.t, skipped)
	require.Len(s.t, workloads, 3)
	workloads, outcomes, _ := c.decide(workloads, &seen{state: planner.Fresh, rate: rate, in: 512, out: 128, itl: 21, ttft: 90, waiting: 0.1})
	var patches []resource.Patch
	for i := range workloads {
		patches = append(patches, c.reader.Patches(view, &workloads[i], &outcomes[i])...)
	}
	return patches
}

func TestOnAPIServer(t *testing.T) {
	s := newServer(t)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

	t.Run("the status is accepted", func(t *testing.T) {
		s := s.in(t)
		patches := s.patches(start, 2)
		require.Len(t, patches, 4)
		for _, p := range patches {
			require.NoError(t, s.Write(p))
		}
		assert.Empty(t, s.patches(start.Add(time.Minute), 2), "all is written already")
		assert.ErrorContains(t, s.Write(patches[0]), "the object has been modified", "it is not what was read")
	})

	t.Run("the columns are shown", func(t *testing.T) {
		s := s.in(t)
		columns := strings.Fields(s.Do("get", "va", "-A", "--no-headers"))
		assert.Equal(t, []string{"llm-d-inference", "llama-8b", "llama-3.1-8b", "A100", "2", "A100", "2", "true", "True", "True"}, columns[:10])
		wide := strings.Fields(s.Do("get", "va", "-n", "llm-d-sim", "-o", "wide"))
		assert.Equal(t, []string{
			"NAME", "MODEL", "ACCELERATOR", "REPLICAS", "WANTED", "OPTIMIZED", "APPLIED", "METRICS", "READY", "RATE", "ITL", "COST", "AGE",
			"vllme-deployment", "default/default", "A100", "1", "MI300X", "1", "false", "True", "True", "120.00", "21.00", "40.00",
		}, wide[:25])
	})

	t.Run("what breaks the rules is refused", func(t *testing.T) {
		for patch, why := range map[string]string{
			`{"spec": {"modelID": ""}}`:                        "spec.modelID",
			`{"spec": {"modelProfile": null}}`:                 "modelProfile or scaleTargetRef is required",
			`{"spec": {"modelProfile": {"accelerators": []}}}`: "should have at least 1 items",
			`{"spec": {"modelProfile": {"accelerators": [{"acc": "A100", "accCount": 0, "alpha": "1", "maxBatchSize": 4}]}}}`:  "accCount",
			`{"spec": {"modelProfile": {"accelerators": [{"acc": "A100", "accCount": 1, "alpha": "-1", "maxBatchSize": 4}]}}}`: "alpha",
			`{"spec": {"minReplicas": 3, "maxReplicas": 2}}`:                                                                   "minReplicas must not be more than maxReplicas",
		} {
			assert.Contains(t, s.Refused("patch", "va", "vllme-deployment", "-n", "llm-d-sim", "--type=merge", "-p", patch), why)
		}
	})

	t.Run("a definition without conditions is no reason to write for ever", func(t *testing.T) {
		s := s.in(t)
		s.Do("patch", "crd", "variantautoscalings.llmd.ai", "--type=json", "-p",
			`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions"}]`)
		s.Do("delete", "-f", "../../examples/cluster/llmd/flat.yaml", "--wait=true", "--timeout=60s")
		s.Apply("../../examples/cluster/llmd/flat.yaml")
		require.Eventually(t, func() bool {
			for _, p := range s.patches(start.Add(time.Minute), 2) {
				require.NoError(t, s.Write(p))
			}
			status := s.Do("get", "va", "vllme-deployment", "-n", "llm-d-sim", "-o", "jsonpath={.status}")
			return strings.Contains(status, "desiredOptimizedAlloc") && !strings.Contains(status, "conditions")
		}, 60*time.Second, 100*time.Millisecond)
		assert.Empty(t, s.patches(start.Add(2*time.Minute), 2))
		assert.Len(t, s.patches(start.Add(7*time.Minute), 2), 4, "after five minutes")
	})
}
