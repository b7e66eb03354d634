package llmd

import (
	"encoding/json"
	"fmt"
	"strings"
)

// unitPrice is the value of an accelerator in the ConfigMap of prices.
type unitPrice struct {
	// Device is what labels of nodes call the accelerator.
	Device string `json:"device"`
	// Cost is that of one device and hour.
	Cost number `json:"cost"`
}

// unitPrices are those of accelerators by name.
type unitPrices struct {
	// names are in order.
	names  []string
	prices map[string]price
}

type price struct {
	device string
	// cost is in the units of the family; it counts when known.
	cost  float64
	known bool
	// wrong says why it is not known although it is given.
	wrong string
}

// unitPrices returns those that count for the objects of a namespace: of the ConfigMap
// there, else of the common one.
func (s *survey) unitPrices(namespace string) *unitPrices {
	if u, ok := s.prices[namespace]; ok {
		return u
	}
	u := &unitPrices{prices: make(map[string]price)}
	s.prices[namespace] = u
	for _, from := range s.namespaces(namespace) {
		m := s.configMap(from, s.config.UnitPrices)
		if m.values == nil {
			continue
		}
		u.names = m.keys()
		for _, name := range u.names {
			u.prices[name] = parsePrice(m.values[name], fmt.Sprintf("key %q of ConfigMap %s/%s", name, from, s.config.UnitPrices))
		}
		break
	}
	return u
}

func parsePrice(text, path string) price {
	var given unitPrice
	var m mistakes
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		m.add(path, "%v", err)
	}
	p := price{device: given.Device, known: given.Cost.given()}
	p.cost = m.value(path+": cost", given.Cost, mostCost)
	if err := m.orNil(); err != nil {
		p.known, p.wrong = false, err.Error()
	}
	return p
}

// accelerator is the name of the accelerator that labels call product, of those that an
// object has a profile of or, without any, of those that have a price. A name that is one
// of the words of the product is taken where no other is. Without a name it is the product.
func (u *unitPrices) accelerator(product string, o *object) string {
	names := u.names
	if len(o.profiles) > 0 {
		names = nil
		for i := range o.profiles {
			names = append(names, o.profiles[i].accelerator)
		}
	}
	words := strings.FieldsFunc(product, func(r rune) bool { return strings.ContainsRune("-_ ", r) })
	word := product
	matches := 0
	for _, name := range names {
		if strings.EqualFold(name, product) || strings.EqualFold(u.prices[name].device, product) {
			return name
		}
		for _, w := range words {
			if strings.EqualFold(w, name) {
				word = name
				matches++
				break
			}
		}
	}
	if matches == 1 {
		return word
	}
	return product
}
