package message_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Workloads are validated one by one: rules about their list would be overlooked.
func TestSchemaHasNoRuleForTheListOfWorkloads(t *testing.T) {
	fleet := (&poolwrightv1.Fleet{}).ProtoReflect().Descriptor()
	message, err := protovalidate.ResolveMessageRules(fleet)
	require.NoError(t, err)
	require.Nil(t, message)
	workloads, err := protovalidate.ResolveFieldRules(fleet.Fields().ByName("workloads"))
	require.NoError(t, err)
	require.Nil(t, workloads)
}
