//go:build e2e && linux

package e2e

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statuses checks what the three ecosystems' objects, and the columns of `kubectl get`, say
// of a fleet that has settled.
func (w *world) statuses() {
	w.t.Helper()
	w.variantAutoscalings()
	w.servings()
	w.playgrounds()
}

// table is what `kubectl get` prints of all objects of a resource, by name and column.
func (c *cluster) table(resource string) map[string]map[string]string {
	c.t.Helper()
	lines := strings.Split(strings.TrimRight(c.kubectl("get", resource, "-n", namespace, "-o", "wide"), "\n"), "\n")
	// Columns are separated by three spaces at least, and values may have none.
	var starts []int
	header := lines[0]
	for i := range header {
		if header[i] != ' ' && (i == 0 || strings.HasSuffix(header[:i], "  ")) {
			starts = append(starts, i)
		}
	}
	rows := map[string]map[string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for k, start := range starts {
			end := len(line)
			if k+1 < len(starts) {
				end = min(end, starts[k+1])
			}
			if start < end {
				row[strings.TrimSpace(header[start:min(len(header), max(end, start))])] = strings.TrimSpace(line[start:end])
			}
		}
		rows[row["NAME"]] = row
	}
	return rows
}

func (w *world) number(text string) int {
	w.t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(w.t, err)
	return n
}

// variantAutoscalings have allocations of replicas that there are, and conditions.
func (w *world) variantAutoscalings() {
	w.t.Helper()
	for name, row := range w.table("variantautoscalings") {
		accelerator := strings.TrimPrefix(name, "summarize-")
		deployed := w.number(w.kubectl("get", "deployment", name, "-n", namespace, "-o", "jsonpath={.spec.replicas}"))
		assert.Equal(w.t, "summarize", row["MODEL"], name)
		assert.Equal(w.t, accelerator, row["ACCELERATOR"], name)
		assert.Equal(w.t, deployed, w.number(row["REPLICAS"]), name)
		assert.Equal(w.t, deployed, w.number(row["OPTIMIZED"]), name)
		assert.Equal(w.t, "true", row["APPLIED"], name)
		assert.Equal(w.t, "True", row["METRICS"], name)
		assert.Equal(w.t, "True", row["READY"], name)
	}
}

// servings have as many groups as were asked for.
func (w *world) servings() {
	w.t.Helper()
	for name, row := range w.table("modelservings") {
		assert.Equal(w.t, row["DESIRED"], row["AVAILABLE"], name)
	}
}

// playgrounds keep the condition of their own controller beside Poolwright's.
func (w *world) playgrounds() {
	w.t.Helper()
	for name, row := range w.table("playgrounds") {
		assert.Equal(w.t, "code", row["MODEL"], name)
		assert.Equal(w.t, row["DESIRED"], row["CREATED"], name)
		assert.Equal(w.t, "True", row["AVAILABLE"], name)
		assert.NotEqual(w.t, "True", row["UNMET"], name)
	}
}
