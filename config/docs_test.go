package config_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/protodoc"
	"github.com/poolwright/poolwright/internal/protodoc/protodoctest"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

var write = flag.Bool("write", false, "write the reference in the documentation anew")

// The references at the end of docs/serve.md and docs/server.md are what the schemas say.
func TestDocumented(t *testing.T) {
	for page, file := range map[string]protoreflect.FileDescriptor{
		"../docs/serve.md":  poolwrightv1.File_poolwright_v1_config_proto,
		"../docs/server.md": poolwrightv1.File_poolwright_v1_server_proto,
	} {
		t.Run(page, func(t *testing.T) { documented(t, page, file) })
	}
}

func documented(t *testing.T, page string, file protoreflect.FileDescriptor) {
	t.Helper()
	const heading = "\n## Reference\n\n"
	schema, err := os.ReadFile("../proto/" + file.Path())
	require.NoError(t, err)
	reference := protodoc.Read(string(schema)).Reference(file.Messages(),
		func(m protoreflect.MessageDescriptor) string {
			if m.ParentFile() == poolwrightv1.File_poolwright_v1_overlay_proto {
				return "overlay.md"
			}
			return "#" + strings.ToLower(string(m.Name()))
		})
	protodoctest.End(t, page, heading, reference, *write)
}
