package protodoc_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/protodoc"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Every message, field and value of the schema has the comment that stands before it.
func TestRead(t *testing.T) {
	const folder = "../../proto/poolwright/v1/"
	for _, file := range []protoreflect.FileDescriptor{
		poolwrightv1.File_poolwright_v1_fleet_proto, poolwrightv1.File_poolwright_v1_overlay_proto, poolwrightv1.File_poolwright_v1_config_proto,
	} {
		source, err := os.ReadFile(folder + file.Path()[strings.LastIndex(file.Path(), "/")+1:])
		require.NoError(t, err)
		c := protodoc.Read(string(source))
		count := 0
		var visit func(protoreflect.MessageDescriptors)
		visit = func(messages protoreflect.MessageDescriptors) {
			for i := range messages.Len() {
				m := messages.Get(i)
				if m.IsMapEntry() {
					continue
				}
				assert.NotEmpty(t, c[m.FullName()], m.FullName())
				count++
				for k := range m.Fields().Len() {
					assert.NotEmpty(t, c[m.Fields().Get(k).FullName()], m.Fields().Get(k).FullName())
					count++
				}
				for k := range m.Enums().Len() {
					e := m.Enums().Get(k)
					assert.NotEmpty(t, c[e.FullName()], e.FullName())
					count += 1 + e.Values().Len()
					for l := range e.Values().Len() {
						assert.NotEmpty(t, c[e.FullName().Append(e.Values().Get(l).Name())])
					}
				}
				visit(m.Messages())
			}
		}
		visit(file.Messages())
		assert.GreaterOrEqual(t, len(c), count)
	}
}

func TestReference(t *testing.T) {
	c := protodoc.Read(`package poolwright.v1;
// WorkloadMatch says which.
//
// And more.
message WorkloadMatch {
  // Name space.
  string namespace = 1;
}`)
	messages := poolwrightv1.File_poolwright_v1_overlay_proto.Messages()
	match, replicas := messages.ByName("WorkloadMatch"), messages.ByName("ReplicaOverlay").Fields()
	assert.Equal(t, "WorkloadMatch says which. And more.", c[match.FullName()])
	assert.Equal(t, "Name space.", c[match.Fields().ByName("namespace").FullName()])
	link := func(m protoreflect.MessageDescriptor) string {
		if m.Name() == "Profile" {
			return "fleet.md"
		}
		return ""
	}
	for name, want := range map[protoreflect.Name]string{
		"accelerator": "string", "devices": "integer ≥ 1, ≤ 1000000", "pools": "list of string", "profile": "[Profile](fleet.md)",
		"switching_cost": "SwitchingCost", "startup": "duration", "capacity_rps": "number > 0, ≤ 1e9", "prefill_mode": "`CHUNKED`, `BLOCKING`",
	} {
		assert.Equal(t, want, c.Type(replicas.ByName(name), link), name)
	}
	assert.Equal(t, "map of string by string", c.Type(messages.ByName("MetricSeries").Fields().ByName("selector"), link))
	assert.Equal(t, "boolean", c.Type(messages.ByName("WorkloadOverlay").Fields().ByName("take_over"), link))
	text := c.Reference(messages, link)
	assert.Contains(t, text, "### WorkloadMatch\n\nWorkloadMatch says which. And more.\n\n| field | type | meaning |\n|---|---|---|\n| `namespace` | string | Name space. |\n")
}
