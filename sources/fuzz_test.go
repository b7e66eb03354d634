package sources_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

// FuzzSystem checks that what is imported can be written and read as a fleet of our
// own, with references that hold and limits in their ranges.
func FuzzSystem(f *testing.F) {
	for _, pattern := range []string{"testdata/system/*.json", "testdata/mistakes/*.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := fs.ReadFile(os.DirFS("."), file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet, err := sources.ReadFleet(data)
		if err != nil {
			require.Nil(t, fleet)
			require.NotEmpty(t, err.Error())
			return
		}
		text, err := document.MarshalJSON(fleet)
		require.NoError(t, err)
		again, err := sources.ReadFleet(text)
		require.NoError(t, err, string(text))
		require.True(t, proto.Equal(fleet, again), string(text))
		if tree, err := document.Parse(data); err == nil && hasSystem(tree) {
			requireSound(t, fleet)
		}
	})
}

func hasSystem(tree document.Value) bool {
	for key := range tree.Members() {
		if key.Text() == "system" {
			return true
		}
	}
	return false
}

func requireSound(t *testing.T, fleet *poolwrightv1.Fleet) {
	t.Helper()
	pools := map[string]bool{}
	for _, p := range fleet.GetPools() {
		require.False(t, pools[p.GetName()])
		pools[p.GetName()] = true
	}
	for _, w := range fleet.GetWorkloads() {
		require.NotEmpty(t, w.GetVariants())
		require.GreaterOrEqual(t, w.GetLoad().GetOutputTokens(), 1.0)
		for _, v := range w.GetVariants() {
			require.True(t, pools[v.GetAccelerator()])
			require.GreaterOrEqual(t, v.GetMaxBatch(), int32(1))
			require.LessOrEqual(t, v.GetMaxBatch(), int32(65536))
			require.GreaterOrEqual(t, v.GetDevicesPerReplica(), int32(1))
		}
	}
}

// FuzzMeasurements checks that what is read are samples that calibration takes, and
// that they can be written and read as a message of our own.
func FuzzMeasurements(f *testing.F) {
	for _, text := range []string{
		"concurrency,isl,osl,ttft_ms,tpot_ms,workload\n8,1024,256,95.5,12.25,chat\n16,1024,256,,14,code\n",
		"context;batch;itl (s)\n350;4;0.0085\n",
		"prompt_tokens\tbatch\toutput_tokens\tprefill_ms\ttbt_ms\n128\t1\t64\t24\t8.5\n",
		"rate_rps,achieved_rps,in,out,running,waiting,ttft_ms\n2,1.75,128,64,3.5,0.25,40\n",
		"model,tp,concurrency,in,out,itl_ms\nA,1,1,100,10,9\nB,2,1,100,10,9\n",
		"x,x\ny,z\n,ms\n1,2\n",
		vllm(`"inf"`, "16"),
		"{\"in\":1,\"ttft_ms\":2}\n{\"in\":2,\"ttft_ms\":3}\n",
		"- {in: 1, ttft_s: 2}\n",
		"samples: [{concurrency: 8, inputTokens: 1024, outputTokens: 256, ttftMs: 95.5}]\noptions: {heldOut: true}\n",
		"device: {name: H100}\nmodel: {parameters: 8e9, layers: 32, hiddenSize: 4096, kvHeads: 8, headSize: 128}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, notes, err := sources.ReadMeasurements([]sources.File{{Name: "file", Data: data}}, sources.TableOptions{TimeUnit: "ms"})
		if err != nil {
			require.Nil(t, m)
			require.NotEmpty(t, err.Error())
			return
		}
		if len(notes) > 0 { // a table, whose samples are checked already
			require.NotEmpty(t, m.GetSamples())
			_, err := message.Measurements(&poolwrightv1.Measurements{Samples: m.GetSamples()})
			require.NoError(t, err)
		}
		text, err := document.MarshalJSON(m)
		require.NoError(t, err)
		again, _, err := sources.ReadMeasurements([]sources.File{{Name: "again", Data: text}}, sources.TableOptions{})
		require.NoError(t, err, string(text))
		require.True(t, proto.Equal(m, again), string(text))
	})
}
