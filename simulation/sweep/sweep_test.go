package sweep_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/sweep"
)

const text = `
name: small
duration: 1h
fleet:
  pools:
    - {accelerator: H100, capacity: 16}
    - {name: spot, accelerator: H100, capacity: 8, quotas: {team-a: 4}}
  workloads:
    - name: chat
      namespace: a
      load: {arrivalRate: 10, inputTokens: 500, outputTokens: 100}
      slo: {ttft: {p95: 1s}}
      variants: [{name: h100, accelerator: H100, capacityRps: 4}]
    - name: chat
      namespace: b
      load: {arrivalRate: 1, inputTokens: 500, outputTokens: 100}
      variants: [{name: h100, accelerator: H100, capacityRps: 4}]
    - name: llama-3.1
      load: {arrivalRate: 2, inputTokens: 500, outputTokens: 100}
      variants: [{name: "1", accelerator: H100, capacityRps: 4}, {name: other, accelerator: H100, capacityRps: 4}]
autoscalers:
  - {name: ours, poolwright: {}}
`

func simulation(t testing.TB) *poolwrightv1.Simulation {
	t.Helper()
	s := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal([]byte(text), s))
	return s
}

func dimensions(t testing.TB, texts ...string) []sweep.Dimension {
	t.Helper()
	var all []sweep.Dimension
	for _, text := range texts {
		d, err := sweep.Parse(text)
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

func TestPathsLeadToFields(t *testing.T) {
	for text, get := range map[string]func(*poolwrightv1.Simulation) any{
		"pools.H100=3":                    func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetPools()[0].GetCapacity() },
		"fleet.pools[0].capacity=3":       func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetPools()[0].GetCapacity() },
		"pools.spot=3":                    func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetPools()[1].GetCapacity() },
		"pools.1.quotas.team-a=3":         func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetPools()[1].GetQuotas()["team-a"] },
		"pools.spot.quotas[x.y]=3":        func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetPools()[1].GetQuotas()["x.y"] },
		"gateway.maxHeld=3":               func(s *poolwrightv1.Simulation) any { return s.GetGateway().GetMaxHeld() },
		"gateway.max_held=3":              func(s *poolwrightv1.Simulation) any { return s.GetGateway().GetMaxHeld() },
		"workloads.a/chat.priority=3":     func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetWorkloads()[0].GetPriority() },
		"workloads[a/chat].priority=3":    func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetWorkloads()[0].GetPriority() },
		"workloads[llama-3.1].priority=3": func(s *poolwrightv1.Simulation) any { return s.GetFleet().GetWorkloads()[2].GetPriority() },
		// A name goes before an index.
		"workloads[2].variants[1].minReplicas=3": func(s *poolwrightv1.Simulation) any {
			return s.GetFleet().GetWorkloads()[2].GetVariants()[0].GetMinReplicas()
		},
	} {
		s, err := sweep.New(simulation(t), dimensions(t, text))
		require.NoError(t, err, text)
		m, err := s.At(0)
		require.NoError(t, err)
		assert.Equal(t, int32(3), get(m), text)
	}
}

func TestValuesAreThoseOfDocuments(t *testing.T) {
	at := func(text string) *poolwrightv1.Simulation {
		s, err := sweep.New(simulation(t), dimensions(t, text))
		require.NoError(t, err, text)
		m, err := s.At(0)
		require.NoError(t, err)
		return m
	}
	assert.InDelta(t, 2.5, at("workloads.a/chat.load.arrivalRate=2.5").GetFleet().GetWorkloads()[0].GetLoad().GetArrivalRate(), 0)
	assert.Zero(t, at("workloads.a/chat.load.arrivalRate=0").GetFleet().GetWorkloads()[0].GetLoad().GetArrivalRate())
	assert.Equal(t, int64(250e6), at("workloads.a/chat.slo.ttft.p95=250ms").GetFleet().GetWorkloads()[0].GetSlo().GetTtft().GetP95().AsDuration().Nanoseconds())
	assert.Equal(t, poolwrightv1.Routing_PREFIX_AWARE, at("routing.strategy=PREFIX_AWARE").GetRouting().GetStrategy())
	assert.True(t, at("pools.spot.interruptible=true").GetFleet().GetPools()[1].GetInterruptible())
	assert.Equal(t, "null", at("name=null").GetName())
}

// Nothing but the field changes, and not in the simulation that the sweep was made of.
func TestPointsAreCopies(t *testing.T) {
	base := simulation(t)
	s, err := sweep.New(base, dimensions(t, "pools.H100=8,16", "gateway.timeout=1s", "duration=1h"))
	require.NoError(t, err)
	m, err := s.At(1)
	require.NoError(t, err)
	assert.True(t, proto.Equal(simulation(t), base))
	m.Gateway = nil
	assert.True(t, proto.Equal(base, m), "capacity 16 and an hour are what the base has")
}

func TestLastDimensionRunsFastest(t *testing.T) {
	s, err := sweep.New(simulation(t), dimensions(t, "pools.H100=1,2", "duration=1m,2m,3m"))
	require.NoError(t, err)
	require.Equal(t, 6, s.Points())
	var all [][]string
	for i := range s.Points() {
		all = append(all, s.Values(i))
	}
	assert.Equal(t, [][]string{{"1", "1m"}, {"1", "2m"}, {"1", "3m"}, {"2", "1m"}, {"2", "2m"}, {"2", "3m"}}, all)

	m, err := s.At(5)
	require.NoError(t, err)
	assert.Equal(t, int32(2), m.GetFleet().GetPools()[0].GetCapacity())
	assert.Equal(t, int64(180), m.GetDuration().GetSeconds())
}

// Names may be varied beside fields that are found by them.
func TestNamesAreFoundBeforeTheyChange(t *testing.T) {
	s, err := sweep.New(simulation(t), dimensions(t, "pools.spot.name=other", "pools.spot=5"))
	require.NoError(t, err)
	m, err := s.At(0)
	require.NoError(t, err)
	assert.Equal(t, "other", m.GetFleet().GetPools()[1].GetName())
	assert.Equal(t, int32(5), m.GetFleet().GetPools()[1].GetCapacity())
}

func TestMistakesAreNamedByPath(t *testing.T) {
	for text, want := range map[string]string{
		"pools.A100=3":                      "sweep: pools.A100: fleet.pools: none is named \"A100\", but H100, spot",
		"pools[9]=3":                        `none is named "9"`,
		"pools=3":                           "fleet.pools is a list: name one of its elements",
		"pools.H100.capcity=3":              `Pool has no field "capcity"; is capacity meant?`,
		"pools.H100.capacity.x=3":           `fleet.pools[0].capacity has no field "x"`,
		"pools.spot.quotas=3":               "fleet.pools[1].quotas needs one key behind it",
		"workloads.chat.load.arrivalRate=3": `several are named "chat"`,
		"workloads.a/chat=3":                "fleet.workloads[0] has fields: name one of name, namespace",
		"workloads.a/chat.load=3":           "has fields: name one of arrivalRate",
		"nothing=3":                         `Simulation has no field "nothing"`,
		"seeds=3":                           "seeds is a list of values, which can't be varied",
		"seeds[0]=3":                        "seeds is a list of values, which can't be varied",
		"pools[H100=3":                      "a bracket is not closed",
		"pools..H100=3":                     "a name is empty",
		"pools.\xb30=3":                     "not valid UTF-8",
		"pools.[H100]=3":                    "a name is empty",
		"pools[H100]x=3":                    `expected a dot before "x"`,
		"pools.H100=many":                   `sweep: pools.H100: many: expected`,
		"pools.H100=1.5":                    "1.5: expected",
		"pools.H100=null":                   "null: expected",
		"pools.H100=2,1..3":                 "pools.H100: 2 is 2, which is given already",
		"duration=1m..2m,60s":               "duration: 60s is 1m0s, which is given already",
		"duration=10":                       "10: expected a duration",
		"routing.strategy=FASTEST":          "FASTEST: ",

		`workloads.a/chat.load.arrivalRate="3"`: "expected",
	} {
		_, err := sweep.New(simulation(t), dimensions(t, text))
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want, text)
		}
	}
}

func TestAllMistakesAreNamed(t *testing.T) {
	_, err := sweep.New(simulation(t), append(
		dimensions(t, "pools.A100=3", "pools.H100=1,many,all", "fleet.pools[0].capacity=2"), sweep.Dimension{Path: "name"}))
	require.Error(t, err)
	for _, want := range []string{
		`pools.A100: fleet.pools: none is named "A100"`, "pools.H100: many:", "pools.H100: all:",
		"fleet.pools[0].capacity: is pools.H100, which is varied already", "name: no value",
	} {
		assert.Contains(t, err.Error(), want)
	}
}

// Fields that exclude each other can't both be varied, whichever is set first.
func TestFieldsOfOneChoice(t *testing.T) {
	base := simulation(t)
	base.Traffic = []*poolwrightv1.Traffic{{Workload: "chat", Parts: []*poolwrightv1.TrafficPart{{}}}}
	constant := "traffic.chat.parts.0.generated.rate.constant=1,2"
	file := "traffic.chat.parts.0.generated.rate.file.column=a,b"
	_, err := sweep.New(base, dimensions(t, constant, file))
	require.ErrorContains(t, err, "rate.file.column can't be varied beside what is in its place then")
	_, err = sweep.New(base, dimensions(t, file, constant))
	require.ErrorContains(t, err, "constant can't be beside file")
}

// The rate of a load counts only where no traffic says what arrives.
func TestRatesBesideTraffic(t *testing.T) {
	base := simulation(t)
	base.Traffic = []*poolwrightv1.Traffic{{Workload: "a/chat", Parts: []*poolwrightv1.TrafficPart{{}}}}
	_, err := sweep.New(base, dimensions(t, "workloads.a/chat.load.arrivalRate=1,2"))
	require.EqualError(t, err, "sweep: workloads.a/chat.load.arrivalRate: changes nothing beside traffic.a/chat, which says what arrives")
	_, err = sweep.New(base, dimensions(t, "workloads.b/chat.load.arrivalRate=1,2", "workloads.a/chat.load.inputTokens=1,2"))
	require.NoError(t, err)
}

func TestSweepsAreBounded(t *testing.T) {
	_, err := sweep.New(simulation(t), dimensions(t, "pools.H100=1..1000", "pools.spot=1..1000"))
	assert.ErrorContains(t, err, "more than 100000 points")
}

// Whatever the path, it is found or refused, and what is found is changed.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"pools.H100", "workloads[llama-3.1].variants[0].profile.alphaMs", "autoscalers.ours.poolwright", "fleet.scenarios[0]",
		"workloads.a/chat.slo.itl.quantiles", "pools.spot.quotas[team-a]", "traffic[0]", "a[", "]", "..", "disruptions.0.at",
		"pools.spot.quotas.\xb30",
	} {
		f.Add(seed, "3")
	}
	base := simulation(f)
	f.Fuzz(func(t *testing.T, path, value string) {
		s, err := sweep.New(base, []sweep.Dimension{{Path: path, Values: []string{value}}})
		if err != nil {
			return
		}
		m, err := s.At(0)
		require.NoError(t, err)
		assert.Equal(t, base.ProtoReflect().Descriptor(), m.ProtoReflect().Descriptor())
		m.ProtoReflect().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { return true })
		assert.True(t, proto.Equal(simulation(t), base), "the base has changed")
	})
}
