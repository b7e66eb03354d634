package kthena

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// server is a ModelServer: how requests reach pods.
type server struct {
	namespace, name string
	// model is empty where the ModelServer leaves it to requests.
	model, engine string
	// labels are those of its pods, and prefill and decode those that tell roles apart; nil
	// where it does not.
	labels, prefill, decode labels.Set
}

// readServer decodes a ModelServer; nil where that fails or it selects nothing.
func readServer(object *unstructured.Unstructured) *server {
	var m struct {
		Spec struct {
			Model            string `json:"model"`
			InferenceEngine  string `json:"inferenceEngine"`
			WorkloadSelector *struct {
				MatchLabels labels.Set `json:"matchLabels"`
				PDGroup     *struct {
					PrefillLabels labels.Set `json:"prefillLabels"`
					DecodeLabels  labels.Set `json:"decodeLabels"`
				} `json:"pdGroup"`
			} `json:"workloadSelector"`
		} `json:"spec"`
	}
	if decode(object, &m) != nil || m.Spec.WorkloadSelector == nil {
		return nil
	}
	s := &server{
		namespace: object.GetNamespace(), name: object.GetName(), model: m.Spec.Model, engine: m.Spec.InferenceEngine,
		labels: m.Spec.WorkloadSelector.MatchLabels,
	}
	if pd := m.Spec.WorkloadSelector.PDGroup; pd != nil {
		s.prefill, s.decode = labels.Merge(pd.PrefillLabels, nil), labels.Merge(pd.DecodeLabels, nil)
	}
	return s
}

// selects tells whether requests go to a pod.
func (s *server) selects(pod labels.Set) bool {
	return has(pod, s.labels) && (s.prefill == nil || has(pod, s.prefill) || has(pod, s.decode))
}

// prefills tells whether a pod gets requests that others go on with, and decodes whether it is
// one of those others.
func (s *server) prefills(pod labels.Set) bool {
	return len(s.prefill) > 0 && has(pod, s.labels) && has(pod, s.prefill) && !s.decodes(pod)
}

func (s *server) decodes(pod labels.Set) bool {
	return len(s.decode) > 0 && has(pod, s.labels) && has(pod, s.decode)
}

// has tells whether a pod has all of some labels.
func has(pod, all labels.Set) bool {
	for key, value := range all {
		if of, ok := pod[key]; !ok || of != value {
			return false
		}
	}
	return true
}
