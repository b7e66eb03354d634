package kthena

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// route is a ModelRoute.
type route struct {
	name string
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

// readRoutes decodes the ModelRoutes of a namespace; what can't be decoded is none.
func (r *reading) readRoutes(namespace string) []*route {
	if known, ok := r.routes[namespace]; ok {
		return known
	}
	var all []*route
	for _, object := range within(r.view.List(routeKind), namespace) {
		if m, err := readRoute(object); err == nil {
			all = append(all, m)
		}
	}
	r.routes[namespace] = all
	return all
}

func readRoute(object *unstructured.Unstructured) (*route, *problem) {
	var m struct {
		Spec routeSpec `json:"spec"`
	}
	err := decode(object, &m)
	return &route{object.GetName(), m.Spec}, err
}

// leadsTo tells whether any rule sends requests to one of the ModelServers.
func (m *route) leadsTo(servers []string) bool {
	return slices.ContainsFunc(m.Rules, func(r rule) bool {
		return slices.ContainsFunc(r.TargetModels, func(t targetModel) bool { return slices.Contains(servers, t.ModelServerName) })
	})
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
