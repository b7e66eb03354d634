package message

import (
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// OfAutoscaler translates settings back, without a name; defaults are written out.
func OfAutoscaler(s autoscaler.Settings) *poolwrightv1.Autoscaler {
	switch s := s.(type) {
	case autoscaler.HPA:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Hpa{Hpa: &poolwrightv1.HpaAutoscaler{
			Metric: nameOf(scalingMetrics, s.Metric), Target: &s.Target, Policy: ofHPA(&s.Policy),
		}}}
	case autoscaler.KPA:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Kpa{Kpa: &poolwrightv1.KpaAutoscaler{
			Target: &s.Policy.Target, Policy: ofKnative(s.Policy),
		}}}
	case autoscaler.Kthena:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Kthena{Kthena: &poolwrightv1.KthenaAutoscaler{
			Metric: nameOf(scalingMetrics, s.Metric), Target: &s.Target, Policy: ofKthena(s.Policy),
		}}}
	case autoscaler.KthenaHeterogeneous:
		rate := count(s.ExpansionRate)
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_KthenaHeterogeneous{KthenaHeterogeneous: &poolwrightv1.KthenaHeterogeneousAutoscaler{
			Metric: nameOf(scalingMetrics, s.Metric), Target: &s.Target, Policy: ofKthena(s.Policy), CostExpansionRatePercent: &rate,
		}}}
	case autoscaler.Saturation:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Saturation{Saturation: &poolwrightv1.SaturationAutoscaler{
			KvCacheThreshold: &s.Policy.KVCacheThreshold, QueueLengthThreshold: &s.Policy.QueueLengthThreshold,
			KvSpareTrigger: &s.Policy.KVSpareTrigger, QueueSpareTrigger: &s.Policy.QueueSpareTrigger, Interval: durationpb.New(s.Interval),
		}}}
	case autoscaler.Inferno:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Inferno{Inferno: &poolwrightv1.InfernoAutoscaler{
			Interval: durationpb.New(s.Interval), SaturationPolicy: nameOf(saturations, s.Greedy.Saturation),
			DelayedBestEffort: s.Greedy.DelayedBestEffort,
		}}}
	case autoscaler.Static:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Static{Static: &poolwrightv1.StaticAutoscaler{}}}
	case autoscaler.Clairvoyant:
		return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Clairvoyant{Clairvoyant: &poolwrightv1.ClairvoyantAutoscaler{}}}
	}
	return &poolwrightv1.Autoscaler{Kind: &poolwrightv1.Autoscaler_Poolwright{Poolwright: &poolwrightv1.PoolwrightAutoscaler{}}}
}
