package kthena

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// route is a ModelRoute.
type route struct {
	name   string
	object *unstructured.Unstructured
	routeSpec
}

type routeSpec struct {
	ModelName string `json:"modelName"`
	Rules     []rule `json:"rules"`
	RateLimit *struct {
		InputTokensPerUnit  *int64 `json:"inputTokensPerUnit"`
		OutputTokensPerUnit *int64 `json:"outputTokensPerUnit"`
		Unit                string `json:"unit"`
	} `json:"rateLimit"`
}

type rule struct {
	TargetModels []targetModel `json:"targetModels"`
}

type targetModel struct {
	ModelServerName string `json:"modelServerName"`
	Weight          *int   `json:"weight"`
}

func readRoute(object *unstructured.Unstructured) (*route, *problem) {
	var m struct {
		Spec routeSpec `json:"spec"`
	}
	err := decode(object, &m)
	return &route{object.GetName(), object, m.Spec}, err
}

// servers are the names of the ModelServers that requests are sent to.
func (m *route) servers() []string {
	var names []string
	for i := range m.Rules {
		for k := range m.Rules[i].TargetModels {
			names = append(names, m.Rules[i].TargetModels[k].ModelServerName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// limit is how many tokens may pass, in words; empty where that is not limited.
func (m *route) limit() string {
	l := m.RateLimit
	if l == nil {
		return ""
	}
	unit := l.Unit
	if unit == "" {
		unit = "second"
	}
	var limits []string
	for _, of := range [...]struct {
		tokens *int64
		name   string
	}{{l.InputTokensPerUnit, "input"}, {l.OutputTokensPerUnit, "output"}} {
		if of.tokens != nil {
			limits = append(limits, fmt.Sprintf("%d %s tokens", *of.tokens, of.name))
		}
	}
	if len(limits) == 0 {
		return ""
	}
	return "at most " + strings.Join(limits, " and ") + " a " + unit
}
