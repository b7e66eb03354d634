package protodoc_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/poolwright/poolwright/internal/protodoc"
	"github.com/poolwright/poolwright/internal/protodoc/protodoctest"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

var write = flag.Bool("write", false, "write the reference in the documentation anew")

// The reference of the API is what the schema says.
func TestDocumentedAPI(t *testing.T) {
	const page, heading = "../../docs/reference/api.md", "\n## Services\n\n"
	link := func(m protoreflect.MessageDescriptor) string {
		if m.ParentFile().Package() != poolwrightv1.File_poolwright_v1_fleet_proto.Package() {
			return ""
		}
		return "#" + strings.ToLower(strings.ReplaceAll(protodoc.Name(m), ".", ""))
	}
	var sources []string
	var files []protoreflect.FileDescriptor
	for _, name := range []string{
		"optimizer_service", "simulation_service", "fleet_service",
		"fleet", "plan", "explanation", "calibration", "simulation", "traffic", "autoscaler", "decision", "overlay", "config", "server",
	} {
		path := "poolwright/v1/" + name + ".proto"
		source, err := os.ReadFile("../../proto/" + path) //nolint:gosec // a schema of ours
		require.NoError(t, err)
		file, err := protoregistry.GlobalFiles.FindFileByPath(path)
		require.NoError(t, err)
		sources, files = append(sources, string(source)), append(files, file)
	}
	all, err := os.ReadDir("../../proto/poolwright/v1")
	require.NoError(t, err)
	schemas := 0
	for _, entry := range all {
		if strings.HasSuffix(entry.Name(), ".proto") {
			schemas++
		}
	}
	require.Len(t, files, schemas, "every file of the schema")

	comments := protodoc.Read(sources...)
	var services, messages strings.Builder
	for _, file := range files {
		for i := range file.Services().Len() {
			services.WriteString(comments.Service(file.Services().Get(i), link))
		}
		if file.Messages().Len() > 0 {
			messages.WriteString("## Messages of " + strings.TrimPrefix(file.Path(), "poolwright/v1/") + "\n\n" + comments.Messages(file.Messages(), link))
		}
	}
	reference := strings.TrimSuffix(services.String()+messages.String(), "\n")
	protodoctest.End(t, page, heading, reference, *write)
}
