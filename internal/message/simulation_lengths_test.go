package message_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func TestMeasuredLengthsAreNotTold(t *testing.T) {
	const text = `
duration: 1h
fleet:
  pools: [{accelerator: H100}]
  workloads:
  - {name: chat, namespace: a, load: {arrivalRate: 1, inputTokens: 9, outputTokens: 9}, variants: [{name: v, accelerator: H100, capacityRps: 4}]}
  - {name: code, load: {arrivalRate: 1, inputTokens: 9, outputTokens: 9}, variants: [{name: v, accelerator: H100, capacityRps: 4}]}
traffic:
- {workload: code, measuredLengths: true, parts: [{generated: {rate: {constant: 1}}}]}
- {workload: a/chat, parts: [{generated: {rate: {constant: 1}}}]}
`
	m := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal([]byte(text), m))
	s, err := message.Simulation(m, message.NoFiles)
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true}, s.Cluster.Undeclared)

	m.Traffic[0].MeasuredLengths = false
	s, err = message.Simulation(m, message.NoFiles)
	require.NoError(t, err)
	assert.Nil(t, s.Cluster.Undeclared)
}
