package message

import (
	"github.com/poolwright/poolwright/optimizer/greedy"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// NamedAutoscaler is an autoscaler and its name in results.
type NamedAutoscaler struct {
	Name     string
	Settings autoscaler.Settings
}

// Autoscalers translates what scales a simulated fleet, which keeps the rules of the schema.
// The error is of type [Violations], with paths from autoscalers on: about values that do
// not go together, and names that are not unique.
func Autoscalers(ms []*poolwrightv1.Autoscaler) ([]NamedAutoscaler, error) {
	var t translation
	all := make([]NamedAutoscaler, len(ms))
	first := map[string]int{}
	for i, m := range ms {
		path := element("autoscalers", i)
		a := NamedAutoscaler{Name: m.GetName(), Settings: t.autoscaler(m, path)}
		if a.Name == "" {
			a.Name = a.Settings.Name()
		}
		if before, ok := first[a.Name]; ok {
			t.violations.add(path+".name", "%q is also the name of %s", a.Name, element("autoscalers", before))
		} else {
			first[a.Name] = i
		}
		all[i] = a
	}
	return all, t.violations.sorted().err()
}

func (t *translation) autoscaler(m *poolwrightv1.Autoscaler, path string) autoscaler.Settings {
	switch m.GetKind().(type) {
	case *poolwrightv1.Autoscaler_Hpa:
		return hpaAutoscaler(m.GetHpa())
	case *poolwrightv1.Autoscaler_Kpa:
		return t.kpaAutoscaler(m.GetKpa(), path+".kpa")
	case *poolwrightv1.Autoscaler_Kthena:
		k := m.GetKthena()
		return kthenaAutoscaler(k.GetMetric(), k.Target, k.GetPolicy())
	case *poolwrightv1.Autoscaler_KthenaHeterogeneous:
		return heterogeneousAutoscaler(m.GetKthenaHeterogeneous())
	case *poolwrightv1.Autoscaler_Saturation:
		return t.saturationAutoscaler(m.GetSaturation(), path+".saturation")
	case *poolwrightv1.Autoscaler_Inferno:
		return infernoAutoscaler(m.GetInferno())
	case *poolwrightv1.Autoscaler_Static:
		return autoscaler.Static{}
	case *poolwrightv1.Autoscaler_Clairvoyant:
		return autoscaler.Clairvoyant{}
	}
	return autoscaler.Poolwright{}
}

// scalingMetrics are those of autoscalers by their names in messages.
var scalingMetrics = map[poolwrightv1.HpaAutoscaler_Metric]autoscaler.Metric{
	poolwrightv1.HpaAutoscaler_QUEUE:       autoscaler.Queue,
	poolwrightv1.HpaAutoscaler_KV_USAGE:    autoscaler.KVUsage,
	poolwrightv1.HpaAutoscaler_CONCURRENCY: autoscaler.Concurrency,
}

func hpaAutoscaler(m *poolwrightv1.HpaAutoscaler) autoscaler.HPA {
	s := autoscaler.DefaultHPA(scalingMetrics[m.GetMetric()])
	set(&s.Target, m.Target)
	s.Policy = *hpaPolicy(m.GetPolicy())
	return s
}

func (t *translation) kpaAutoscaler(m *poolwrightv1.KpaAutoscaler, path string) autoscaler.KPA {
	s := autoscaler.DefaultKPA()
	if p := m.GetPolicy(); p != nil {
		s.Policy = *t.knativePolicy(p, path+".policy")
	}
	set(&s.Policy.Target, m.Target)
	return s
}

func kthenaAutoscaler(metric poolwrightv1.HpaAutoscaler_Metric, target *float64, policy *poolwrightv1.KthenaPolicy) autoscaler.Kthena {
	s := autoscaler.DefaultKthena(scalingMetrics[metric])
	set(&s.Target, target)
	s.Policy = *kthenaPolicy(policy)
	return s
}

func heterogeneousAutoscaler(m *poolwrightv1.KthenaHeterogeneousAutoscaler) autoscaler.KthenaHeterogeneous {
	s := autoscaler.KthenaHeterogeneous{
		Kthena: kthenaAutoscaler(m.GetMetric(), m.Target, m.GetPolicy()), ExpansionRate: greedy.DefaultExpansionRate,
	}
	setInt(&s.ExpansionRate, m.CostExpansionRatePercent)
	return s
}

func (t *translation) saturationAutoscaler(m *poolwrightv1.SaturationAutoscaler, path string) autoscaler.Saturation {
	s := autoscaler.DefaultSaturation()
	p := &s.Policy
	set(&p.KVCacheThreshold, m.KvCacheThreshold)
	set(&p.QueueLengthThreshold, m.QueueLengthThreshold)
	set(&p.KVSpareTrigger, m.KvSpareTrigger)
	set(&p.QueueSpareTrigger, m.QueueSpareTrigger)
	setDuration(&s.Interval, m.GetInterval())
	if p.KVSpareTrigger > p.KVCacheThreshold {
		t.violations.add(path+".kvSpareTrigger", "%v is more than kvCacheThreshold, %v", p.KVSpareTrigger, p.KVCacheThreshold)
	}
	if p.QueueSpareTrigger > p.QueueLengthThreshold {
		t.violations.add(path+".queueSpareTrigger", "%v is more than queueLengthThreshold, %v", p.QueueSpareTrigger, p.QueueLengthThreshold)
	}
	if s.Interval%autoscaler.ScrapeInterval != 0 {
		t.violations.add(path+".interval", "%v is not a multiple of %v", s.Interval, autoscaler.ScrapeInterval)
	}
	return s
}

func infernoAutoscaler(m *poolwrightv1.InfernoAutoscaler) autoscaler.Inferno {
	s := autoscaler.DefaultInferno()
	setDuration(&s.Interval, m.GetInterval())
	s.Greedy = greedy.Options{Saturation: saturations[m.GetSaturationPolicy()], DelayedBestEffort: m.GetDelayedBestEffort()}
	return s
}
