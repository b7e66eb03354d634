package poolwrightv1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

type document struct {
	Info struct {
		Title   string
		Version string
		License struct{ Name string }
	}
	Paths       map[string]map[string]struct{ Summary string }
	Definitions map[string]struct {
		Properties map[string]struct{ Type, Description string }
	}
}

func openAPI(t *testing.T) document {
	t.Helper()
	var d document
	require.NoError(t, json.Unmarshal(poolwrightv1.OpenAPI, &d))
	return d
}

func TestOpenAPISaysWhatItIs(t *testing.T) {
	d := openAPI(t)
	assert.Equal(t, "Poolwright", d.Info.Title)
	assert.Equal(t, "v1", d.Info.Version)
	assert.Equal(t, "Apache-2.0", d.Info.License.Name)
}

func TestOpenAPIDescribesEveryCall(t *testing.T) {
	d := openAPI(t)
	for _, file := range []protoreflect.FileDescriptor{
		poolwrightv1.File_poolwright_v1_optimizer_service_proto, poolwrightv1.File_poolwright_v1_fleet_service_proto,
	} {
		methods := file.Services().Get(0).Methods()
		require.Positive(t, methods.Len())
		for i := range methods.Len() {
			rule := proto.GetExtension(methods.Get(i).Options(), annotations.E_Http).(*annotations.HttpRule)
			path, method := rule.GetPost(), "post"
			if path == "" {
				path, method = rule.GetGet(), "get"
			}
			require.NotEmpty(t, path, methods.Get(i).Name())
			path = strings.ReplaceAll(path, "=**", "")
			assert.NotEmpty(t, d.Paths[path][method].Summary, path)
		}
	}
}

func TestOpenAPINamesFieldsAsJSONDoes(t *testing.T) {
	pool := openAPI(t).Definitions["Pool"]
	assert.Equal(t, "number", pool.Properties["pricePerHour"].Type)
	assert.Contains(t, pool.Properties["pricePerHour"].Description, "one hour")
}
