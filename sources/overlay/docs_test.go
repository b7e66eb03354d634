package overlay_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/protodoc"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/overlay"
	"github.com/poolwright/poolwright/sources/plain"
)

var write = flag.Bool("write", false, "write the tables of the documentation anew")

const (
	docs            = "../../docs/"
	overlayPage     = "overlay.md"
	annotationsPage = "annotations.md"
)

func read(t *testing.T, folder, file string) string {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS(folder), file)
	require.NoError(t, err)
	return string(data)
}

func comments(t *testing.T) protodoc.Comments {
	t.Helper()
	const folder = "../../proto/poolwright/v1"
	return protodoc.Read(read(t, folder, "overlay.proto"), read(t, folder, "fleet.proto"))
}

// link is where a page describes a message.
func link(m protoreflect.MessageDescriptor) string {
	switch m.ParentFile().Path() {
	case "poolwright/v1/overlay.proto":
		return "overlay.md#" + strings.ToLower(string(m.Name()))
	case "poolwright/v1/calibration.proto":
		return "calibration.md#without-measurements"
	}
	return "fleet.md"
}

// section checks that a page has a text at the end of a section.
func section(t *testing.T, page, heading, text string) {
	t.Helper()
	data := read(t, docs, page)
	before, rest, ok := strings.Cut(data, "\n## "+heading+"\n\n")
	require.True(t, ok, heading)
	body, after, more := strings.Cut(rest, "\n## ")
	if more {
		after = "\n## " + after
	}
	lead, _, _ := strings.Cut(body, "\n\n")
	want := before + "\n## " + heading + "\n\n" + strings.TrimSpace(lead) + "\n\n" + strings.TrimSpace(text) + "\n" + after
	if *write {
		require.NoError(t, os.WriteFile(docs+page, []byte(want), 0o600))
	}
	assert.Equal(t, want, data, "run the test with -write")
}

// The reference has every field, with its comment in the schema.
func TestDocumentedReference(t *testing.T) {
	messages := poolwrightv1.File_poolwright_v1_overlay_proto.Messages()
	section(t, overlayPage, "Reference", comments(t).Reference(messages, link))
}

// The tables of annotations have every one that is read.
func TestDocumentedAnnotations(t *testing.T) {
	c := comments(t)
	for heading, m := range map[string]protoreflect.MessageDescriptor{
		"About the workload": (*poolwrightv1.WorkloadOverlay)(nil).ProtoReflect().Descriptor(),
		"About replicas":     (*poolwrightv1.ReplicaOverlay)(nil).ProtoReflect().Descriptor(),
	} {
		table := "| annotation | value | meaning |\n|---|---|---|\n"
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if f.Name() == "match" {
				continue
			}
			words := c.Type(f, link) + " | " + c.Meaning(f)
			for k := range valuesOf(f) {
				value := string(f.Enum().Values().Get(k).Name())
				words = strings.ReplaceAll(words, value, strings.ToLower(strings.ReplaceAll(value, "_", "-")))
			}
			table += fmt.Sprintf("| `%s%s` | %s |\n", resource.AnnotationDomain, strings.ReplaceAll(string(f.Name()), "_", "-"), words)
		}
		section(t, annotationsPage, heading, table)
	}
}

func valuesOf(f protoreflect.FieldDescriptor) int {
	if f.Enum() == nil {
		return 0
	}
	return f.Enum().Values().Len()
}

// The example of the configuration uses every field, and can be used.
func TestDocumentedOverlay(t *testing.T) {
	config := &poolwrightv1.Config{}
	require.NoError(t, document.UnmarshalYAML([]byte(example(t, overlayPage)), config))
	_, err := overlay.New(config.GetFleet())
	require.NoError(t, err)
	used := make(map[protoreflect.FullName]bool)
	uses(config.GetFleet().ProtoReflect(), used)
	messages := poolwrightv1.File_poolwright_v1_overlay_proto.Messages()
	for i := range messages.Len() {
		for k := range messages.Get(i).Fields().Len() {
			f := messages.Get(i).Fields().Get(k)
			assert.True(t, used[f.FullName()] || f.Name() == "unknown_capacity", "%s is not in the example", f.FullName())
		}
	}
}

func example(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, docs, page), "```yaml\n")
	require.True(t, ok)
	text, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	return text
}

// uses notes the fields that are set.
func uses(m protoreflect.Message, used map[protoreflect.FullName]bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		used[f.FullName()] = true
		switch {
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				uses(v.List().Get(i).Message(), used)
			}
		default:
			uses(v.Message(), used)
		}
		return true
	})
}

// The Deployment on the page about annotations is read as it says.
func TestDocumentedDeployment(t *testing.T) {
	view := resourcetest.New(t, example(t, annotationsPage))
	declared, skipped := plain.Reader{}.Read(view)
	require.Empty(t, skipped)
	c := parse(t, `
accelerators: [{name: H100, aliases: [NVIDIA-H100-80GB-HBM3]}]
replicas: [{match: {model: llama-3.1-70b, accelerator: H100, devices: 4}, capacityRps: 2}]
`).Complete(view, []overlay.Pool{h100(64)}, declared)
	require.Len(t, c.Workloads, 1)
	assert.Empty(t, c.Workloads[0].Conditions)
	assert.Equal(t, "prod/chat", c.Fleet.Workloads[0].QualifiedName())
	assert.Equal(t, resource.DryRun, c.Workloads[0].Mode)
	assert.Equal(t, "vllm", c.Workloads[0].Series.Engine)
	assert.Len(t, c.Fleet.Workloads[0].SLO.Limits, 2)
	v := c.Fleet.Workloads[0].Variants[0]
	assert.InDelta(t, 2, float64(v.Capacity), 0)
	assert.Equal(t, 8, v.MaxReplicas.Value)
	assert.Equal(t, 2, v.CurrentReplicas)
}

// The page lists every condition.
func TestDocumentedConditions(t *testing.T) {
	page := read(t, docs, overlayPage)
	for _, kind := range []string{
		overlay.AnnotationInvalid, overlay.AcceleratorUnknown, overlay.DevicesUnknown, overlay.PoolUnknown, overlay.PoolCapacityUnknown, overlay.NodesTooSmall,
		overlay.ProfileEstimated, overlay.ProfileInvalid, overlay.SLOMissing, overlay.BoundsInvalid, overlay.MinimumAssumed, overlay.MixingImpossible,
		resource.AcceleratorAssumed, resource.DuplicateOwnership, resource.DuplicateName, overlay.NoVariant,
	} {
		assert.Contains(t, page, "| `"+kind+"` |")
	}
}
