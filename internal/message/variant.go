package message

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

func (t *translation) variant(m *poolwrightv1.Variant, path string) planner.Variant {
	v := planner.Variant{
		Name:                m.GetName(),
		Pools:               t.placements(m, path),
		DevicesPerReplica:   int(orOne(m.DevicesPerReplica)),
		NodesPerReplica:     int(orOne(m.NodesPerReplica)),
		MinReplicas:         int(m.GetMinReplicas()),
		MaxReplicas:         bound(m.MaxReplicas),
		CurrentReplicas:     int(m.GetCurrentReplicas()),
		StartingReplicas:    int(m.GetStartingReplicas()),
		LeavingReplicas:     int(m.GetLeavingReplicas()),
		PricePerReplicaHour: m.GetPricePerReplicaHour(),
		Priced:              m.PricePerReplicaHour != nil,
		Startup:             m.GetStartup().AsDuration(),
		SwitchUp:            m.GetSwitchingCost().GetUp(),
		SwitchDown:          m.GetSwitchingCost().GetDown(),
		Preference:          int(m.GetPreference()),
		ScaleTarget: planner.ScaleTarget{
			APIVersion: m.GetScaleTarget().GetApiVersion(),
			Kind:       m.GetScaleTarget().GetKind(),
			Name:       m.GetScaleTarget().GetName(),
		},
	}
	t.printable(path, "name", v.Name)
	t.minMax(v.MinReplicas, v.MaxReplicas, path)
	if v.NodesPerReplica > v.DevicesPerReplica {
		t.violations.add(path+".nodesPerReplica", "%d nodes for %d devices", v.NodesPerReplica, v.DevicesPerReplica)
	}
	if v.StartingReplicas > v.CurrentReplicas {
		t.violations.add(path+".startingReplicas", "%d of %d current replicas", v.StartingReplicas, v.CurrentReplicas)
	}
	t.poolReplicas(m, &v, path)
	t.role(m, &v, path)
	t.performance(m, &v, path)
	return v
}

func (t *translation) poolReplicas(m *poolwrightv1.Variant, v *planner.Variant, path string) {
	counts := m.GetPoolReplicas()
	if len(counts) > 0 && len(counts) != len(v.Pools) {
		t.violations.add(path+".poolReplicas", "%d for %d pools", len(counts), len(v.Pools))
	}
	for _, n := range counts {
		v.PoolReplicas = append(v.PoolReplicas, int(n))
	}
}

// roles are the phases by their names in messages.
var roles = [...]optimizer.Phase{
	poolwrightv1.Variant_UNIFIED: optimizer.Whole,
	poolwrightv1.Variant_PREFILL: optimizer.Prefill,
	poolwrightv1.Variant_DECODE:  optimizer.Decode,
}

func (t *translation) role(m *poolwrightv1.Variant, v *planner.Variant, path string) {
	if role := m.GetRole(); role >= 0 && int(role) < len(roles) {
		v.Role = roles[role]
	}
	if m.GetKvTransfer() != nil && v.Role != optimizer.Prefill {
		t.violations.add(path+".kvTransfer", "only a variant of role PREFILL hands prompts on")
	}
	v.Transfer = transfer(m.GetKvTransfer())
	if v.Role != optimizer.Whole && m.GetServiceModel() != poolwrightv1.Variant_CONTINUOUS_BATCHING {
		t.violations.add(path+".serviceModel", "%s does not tell prefill from decoding", m.GetServiceModel())
	}
}

func transfer(m *poolwrightv1.KVTransfer) queueing.Transfer {
	return queueing.Transfer{
		Base:     queueing.Seconds(m.GetBase().AsDuration().Seconds()),
		PerToken: queueing.Seconds(m.GetPerToken().AsDuration().Seconds()),
	}
}

// roles checks that the phases of a workload can be paired.
func (t *translation) roles(w *planner.Workload, path string) {
	var count, profiles [len(roles)]int
	for j := range w.Variants {
		count[w.Variants[j].Role]++
		if w.Variants[j].Replica != nil {
			profiles[w.Variants[j].Role]++
		}
	}
	for j := range w.Variants {
		v, at := &w.Variants[j], element(path+".variants", j)
		other := optimizer.Prefill + optimizer.Decode - v.Role
		switch {
		case v.Role == optimizer.Whole:
		case w.Mixing == optimizer.Single:
			t.violations.add(at+".role", "mixing SINGLE allows one variant, and a phase needs two")
		case count[other] == 0:
			t.violations.add(at+".role", "there is no variant for the other phase")
		case v.Replica != nil && profiles[other] == 0:
			t.violations.add(at+".profile", "no variant of the other phase has one: give profiles or capacityRps for both")
		}
	}
}

// placements are the pools that a variant names, itself or by accelerator.
func (t *translation) placements(m *poolwrightv1.Variant, path string) []int {
	switch accelerator, names := m.GetAccelerator(), m.GetPools(); {
	case accelerator != "" && len(names) > 0:
		t.violations.add(path+".pools", "give either pools or an accelerator")
	case accelerator != "":
		if t.byAccelerator[accelerator] == nil {
			t.violations.add(path+".accelerator", "no pool has accelerator %q", accelerator)
		}
		return t.byAccelerator[accelerator]
	case len(names) == 0:
		t.violations.add(path+".accelerator", "give an accelerator or pools")
	default:
		return t.namedPools(names, path)
	}
	return nil
}

func (t *translation) namedPools(names []string, path string) []int {
	var pools []int
	seen := make(map[string]bool, len(names))
	for k, name := range names {
		i, ok := t.byName[name]
		switch {
		case !ok:
			t.violations.add(fmt.Sprintf("%s.pools[%d]", path, k), "there is no pool %q", name)
			continue
		case seen[name]:
			t.violations.add(fmt.Sprintf("%s.pools[%d]", path, k), "%q is named twice", name)
			continue
		case len(pools) > 0 && t.pools[i].Accelerator != t.pools[pools[0]].Accelerator:
			t.violations.add(fmt.Sprintf("%s.pools[%d]", path, k), "%q has accelerator %q, %q has %q: a variant is for one",
				name, t.pools[i].Accelerator, t.pools[pools[0]].Name, t.pools[pools[0]].Accelerator)
		}
		seen[name] = true
		pools = append(pools, i)
	}
	return pools
}

// performance takes either the profile or the declared capacity.
func (t *translation) performance(m *poolwrightv1.Variant, v *planner.Variant, path string) {
	profile := m.GetProfile()
	switch {
	case profile == nil && m.GetCapacityRps() == 0:
		t.violations.add(path, "give a profile or capacityRps")
		return
	case profile == nil:
		v.Capacity = queueing.Rate(m.GetCapacityRps())
		return
	case m.GetCapacityRps() != 0:
		t.violations.add(path+".capacityRps", "give either capacityRps or a profile")
	}
	if m.MaxBatch == nil {
		t.violations.add(path+".maxBatch", "needed with a profile")
	}
	v.Replica = replica(m)
}

// serviceModels are the models by their names in messages.
var serviceModels = [...]queueing.ServiceModel{
	poolwrightv1.Variant_CONTINUOUS_BATCHING: queueing.ContinuousBatching,
	poolwrightv1.Variant_LLMD_V0:             queueing.LLMDV0,
	poolwrightv1.Variant_LLMD_V1:             queueing.LLMDV1,
	poolwrightv1.Variant_LLMD_V2:             queueing.LLMDV2,
	poolwrightv1.Variant_LLMD_V3:             queueing.LLMDV3,
}

func replica(m *poolwrightv1.Variant) *queueing.Replica {
	r := &queueing.Replica{
		Profile:          profile(m.GetProfile()),
		MaxBatch:         int(m.GetMaxBatch()),
		KVCacheTokens:    queueing.Tokens(m.GetKvCacheTokens()),
		MaxBatchedTokens: queueing.Tokens(m.GetMaxBatchedTokens()),
		AcceptedTokens:   m.GetSpeculativeAcceptedTokens(),
	}
	if model := m.GetServiceModel(); model >= 0 && int(model) < len(serviceModels) {
		r.Model = serviceModels[model]
	}
	if m.MaxQueue != nil {
		r.MaxQueue = queueing.Waiting{Limited: true, Places: int(m.GetMaxQueue())}
	}
	r.PrefillMode = prefillMode(m.GetPrefillMode())
	return r
}

func prefillMode(m poolwrightv1.Variant_PrefillMode) queueing.PrefillMode {
	if m == poolwrightv1.Variant_BLOCKING {
		return queueing.Blocking
	}
	return queueing.Chunked
}

// profile converts milliseconds to seconds.
func profile(m *poolwrightv1.Profile) queueing.Profile {
	return queueing.Profile{
		Alpha:      m.GetAlphaMs() / 1e3,
		Beta:       m.GetBetaMs() / 1e3,
		Gamma:      m.GetGammaMs() / 1e3,
		Delta:      m.GetDeltaMs() / 1e3,
		Kappa:      m.GetKappaMs() / 1e3,
		Sigma:      m.GetSigmaMs() / 1e3,
		Epsilon:    m.GetEpsilonMs() / 1e3,
		TTFTOffset: m.GetTtftOffsetMs() / 1e3,
	}
}
