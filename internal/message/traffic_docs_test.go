package message_test

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/protodoc"
	"github.com/poolwright/poolwright/internal/protodoc/protodoctest"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

var write = flag.Bool("write", false, "write the reference in the documentation anew")

func trafficPage(t *testing.T) string {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS("../../docs"), "traffic.md")
	require.NoError(t, err)
	return string(text)
}

// The reference at the end of docs/traffic.md is what the schema says.
func TestDocumentedTraffic(t *testing.T) {
	const heading = "\n## Reference\n\nEvery field.\n\n"
	schema, err := fs.ReadFile(os.DirFS("../../proto/poolwright/v1"), "traffic.proto")
	require.NoError(t, err)
	reference := protodoc.Read(string(schema)).Reference(poolwrightv1.File_poolwright_v1_traffic_proto.Messages(),
		func(m protoreflect.MessageDescriptor) string { return "#" + strings.ToLower(string(m.Name())) })
	protodoctest.End(t, "../../docs/traffic.md", heading, reference, *write)
}

// The example on the page is right, and has every field.
func TestDocumentedTrafficExample(t *testing.T) {
	_, rest, found := strings.Cut(trafficPage(t), "```yaml\n")
	require.True(t, found)
	text, _, _ := strings.Cut(rest, "```")
	m := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal([]byte(text), m))
	fleet, err := message.Fleet(m.GetFleet())
	require.NoError(t, err)
	files := fstest.MapFS{
		"yesterday.csv.gz": {Data: []byte("t,in,out\n60,1,2\n80000,3,4\n")},
		"launch.jsonl":     {Data: []byte(`{"timestamp": 9000000, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}`)},
		"rates.csv":        {Data: []byte("t,day_rps,night_rps\n0,2,1\n600,3,2\n")},
	}
	_, _, err = message.Traffic(m, fleet.Workloads, func(name string) (io.ReadCloser, error) { return files.Open(name) })
	require.NoError(t, err)
	fields := make(map[protoreflect.FullName]bool)
	for _, entry := range m.GetTraffic() {
		used(entry.ProtoReflect(), fields)
	}
	messages := poolwrightv1.File_poolwright_v1_traffic_proto.Messages()
	for i := range messages.Len() {
		for k := range messages.Get(i).Fields().Len() {
			name := messages.Get(i).Fields().Get(k).FullName()
			assert.True(t, fields[name], "%s is not in the example", name)
		}
	}
}
