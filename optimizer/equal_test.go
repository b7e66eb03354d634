package optimizer

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whatever field is changed, the problems are no longer equal: none is forgotten.
func TestEqualComparesEveryField(t *testing.T) {
	build := func() *Problem {
		return &Problem{
			Pools:  []Pool{{}},
			Quotas: []Quota{{}},
			Workloads: []Workload{{
				Shapes:   []Shape{{}},
				Variants: []Variant{{ShapeCapacities: []float64{0}, Placements: []Placement{{}}}},
			}},
		}
	}
	assert.True(t, build().Equal(build()))
	changed := 0
	for {
		p := build()
		left := changed
		if !changeNth(reflect.ValueOf(p).Elem(), &left) {
			break
		}
		assert.False(t, p.Equal(build()), "change %d: %+v", changed, p)
		changed++
	}
	assert.Greater(t, changed, 30)
}

// changeNth changes the exported field number n, depth first.
func changeNth(v reflect.Value, n *int) bool {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && changeNth(v.Field(i), n) {
				return true
			}
		}
		return false
	case reflect.Slice:
		return changeNth(v.Index(0), n)
	}
	if *n > 0 {
		*n--
		return false
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(1)
	}
	return true
}
