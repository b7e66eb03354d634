package message_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// What is published to be compared can be written down, and means the same then.
func TestAutoscalersThereAndBack(t *testing.T) {
	settings := 0
	for _, kind := range autoscaler.Kinds() {
		for _, s := range append(kind.Grid(), kind) {
			back, err := message.Autoscalers([]*poolwrightv1.Autoscaler{message.OfAutoscaler(s)})
			require.NoError(t, err, s.Name())
			assert.Equal(t, []message.NamedAutoscaler{{Name: s.Name(), Settings: s}}, back)
			settings++
		}
	}
	assert.Greater(t, settings, 100)
}
