package kthena

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// Names of pods, with which Prometheus knows them, say the same as their labels.
func TestPartsMatchWhatTheirSelectorsSelect(t *testing.T) {
	workloads, skipped := new(Reader).Read(resourcetest.New(t, `
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {namespace: chat, name: a-1}
spec: {template: {roles: [{name: prefill, workerReplicas: 1}, {name: decode, replicas: 2}, {name: decode-0}]}}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {namespace: chat, name: a}
spec:
  metrics: [{metricName: m, targetValue: 1}]
  homogeneousTarget: {minReplicas: 1, maxReplicas: 4, target: {targetRef: {name: a-1}}}
`))
	require.Empty(t, skipped)
	v := &workloads[0].Declared[0]
	parts := workloads[0].Series.Parts["a-1"]
	require.Len(t, parts, 2)
	require.Len(t, v.Reporters, 2)
	for _, pod := range []struct {
		name, serving, role, id string
		entry                   bool
		part                    int
		replica                 string
	}{
		{"a-1-0-prefill-0-0", "a-1", "prefill", "prefill-0", true, 1, "a-1-0"},
		{"a-1-0-prefill-0-1", "a-1", "prefill", "prefill-0", false, -1, ""},
		{"a-1-12-decode-0-0", "a-1", "decode", "decode-0", true, 0, "a-1-12"},
		{"a-1-12-decode-1-0", "a-1", "decode", "decode-1", true, 0, "a-1-12"},
		{"a-1-12-decode-0-0-0", "a-1", "decode-0", "decode-0-0", true, -1, ""},
		{"a-0-decode-0-0", "a", "decode", "decode-0", true, -1, ""},
	} {
		set := labels.Set{nameLabel: pod.serving, roleLabel: pod.role, roleIDLabel: pod.id}
		if pod.entry {
			set[entryLabel] = "true"
		}
		for k, part := range parts {
			match := part.Pods.FindStringSubmatch(pod.name)
			assert.Equal(t, k == pod.part, match != nil, "%s as %v", pod.name, part.Pods)
			if match != nil {
				assert.Equal(t, pod.replica, match[1])
			}
			if pod.serving == "a-1" {
				assert.Equal(t, k == pod.part, v.Reporters[k].Matches(set), "%s by %v", pod.name, v.Reporters[k])
			}
		}
		assert.Equal(t, pod.part == 0 && pod.id == "decode-0" && pod.serving == "a-1", v.Leaders.Matches(set), pod.name)
	}
}
