package llmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poolwright/poolwright/planner"
)

// BenchmarkReader reads 2,000 objects of three accelerators each, and says what is to be
// written of them: nothing, after the first time.
func BenchmarkReader(b *testing.B) {
	texts := []string{example(b, "config.yaml")}
	for i := range 2000 {
		texts = append(texts, strings.ReplaceAll(example(b, "flat.yaml"), "llm-d-sim", fmt.Sprintf("sim-%04d", i)))
	}
	c := newWorld(b, texts...)
	for _, accelerator := range []string{"A100", "MI300X", "G2"} {
		c.addPool(accelerator, 40, 10_000)
	}
	declared, _ := c.reader.Read(c.view)
	workloads, outcomes, _ := c.decide(declared, &seen{state: planner.Fresh, rate: 2, out: 178, itl: 21})
	for i := range workloads {
		for _, patch := range c.reader.Patches(c.view, &workloads[i], &outcomes[i]) {
			c.view.Apply(b, patch)
		}
	}
	b.Run("Read", func(b *testing.B) {
		for b.Loop() {
			c.reader.Read(c.view)
		}
	})
	b.Run("Patches", func(b *testing.B) {
		for b.Loop() {
			for i := range workloads {
				c.reader.Patches(c.view, &workloads[i], &outcomes[i])
			}
		}
	})
}
