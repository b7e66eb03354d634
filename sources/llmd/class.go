package llmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/queueing"
)

// serviceClass is the value of a key of a ConfigMap.
type serviceClass struct {
	Name     string    `json:"name"`
	Priority *int64    `json:"priority"`
	Data     []promise `json:"data"`
}

// promise is what a class promises to the users of a model. Older classes have slo-itl and
// slo-ttw.
type promise struct {
	Model string `json:"model"`
	TPOT  number `json:"slo-tpot"`
	ITL   number `json:"slo-itl"`
	TTFT  number `json:"slo-ttft"`
	TTW   number `json:"slo-ttw"`
}

// class is a service class as far as it is about one model.
type class struct {
	name     string
	priority int
	slo      queueing.SLO
}

// lowestPriority is that of a class whose priority is absent or not in [1, 100], as the
// family has it.
const lowestPriority = 100

// waitQuantile is the share of requests that a limit on the wait is for, by the family.
const waitQuantile = 0.95

func parseClass(text, key string) (*serviceClass, error) {
	var c serviceClass
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		return nil, err
	}
	c.Name = cmp.Or(c.Name, strings.TrimSuffix(strings.TrimSuffix(key, ".yaml"), ".yml"))
	return &c, nil
}

// about is the class as far as it is about a model. Limits are on means, but for that on
// the wait; 0 is none.
func (c *serviceClass) about(model string) (*class, error) {
	i := slices.IndexFunc(c.Data, func(p promise) bool { return p.Model == model })
	if i < 0 {
		return nil, fmt.Errorf("has no model %q", model)
	}
	found := &class{name: c.Name, priority: lowestPriority}
	if c.Priority != nil && *c.Priority >= 1 && *c.Priority <= lowestPriority {
		found.priority = int(*c.Priority)
	}
	var m mistakes
	p, path := &c.Data[i], fmt.Sprintf("data[%d].", i)
	itl := cmp.Or(m.seconds(path+"slo-tpot", p.TPOT), m.seconds(path+"slo-itl", p.ITL))
	ttft, wait := m.seconds(path+"slo-ttft", p.TTFT), m.seconds(path+"slo-ttw", p.TTW)
	if err := m.orNil(); err != nil {
		return nil, err
	}
	limit := func(metric queueing.Metric, quantile, value float64) {
		found.slo.Limits = append(found.slo.Limits, queueing.Limit{Metric: metric, Quantile: quantile, Value: value})
	}
	if itl > 0 {
		limit(queueing.ITL, 0, itl)
	}
	switch {
	case ttft > 0:
		limit(queueing.TTFT, 0, ttft)
	case wait > 0:
		limit(queueing.TTFT, waitQuantile, wait)
	}
	return found, nil
}

// classAbout is the class of a key as far as it is about a model.
func (m *configMap) classAbout(key, model string) (*class, error) {
	c, err := m.class(key)
	if err != nil {
		return nil, err
	}
	return c.about(model)
}

// classOf finds the class of an object; nil where it names none. The error says why there
// is none although it names one.
func (s *survey) classOf(o *object) (*class, error) {
	ref := o.spec.SLOClassRef
	if ref == nil {
		return nil, nil
	}
	for _, namespace := range s.namespaces(o.GetNamespace()) {
		m := s.configMap(namespace, ref.Name)
		if _, ok := m.values[ref.Key]; !ok {
			continue
		}
		found, err := m.classAbout(ref.Key, o.spec.ModelID)
		if err != nil {
			return nil, fmt.Errorf("key %q of ConfigMap %s/%s: %w", ref.Key, namespace, ref.Name, err)
		}
		return found, nil
	}
	return s.searchClass(o)
}

// searchClass looks for the model in all classes, as the family does whatever the
// reference says.
func (s *survey) searchClass(o *object) (*class, error) {
	missing := fmt.Sprintf("no key %q in a ConfigMap %q", o.spec.SLOClassRef.Key, o.spec.SLOClassRef.Name)
	for _, namespace := range s.namespaces(o.GetNamespace()) {
		var found []*class
		var names []string
		all := s.configMap(namespace, s.config.ServiceClasses)
		for _, key := range all.keys() {
			if c, err := all.classAbout(key, o.spec.ModelID); err == nil {
				found, names = append(found, c), append(names, c.name)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, fmt.Errorf("%s, and several classes in %s/%s have model %q: %s",
				missing, namespace, s.config.ServiceClasses, o.spec.ModelID, strings.Join(names, ", "))
		}
	}
	return nil, fmt.Errorf("%s, and no class in %s has model %q", missing, s.config.ServiceClasses, o.spec.ModelID)
}
