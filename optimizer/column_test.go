package optimizer

import "testing"

// Whoever asks for a configuration, one that a workload may not have is refused.
func TestColumnsAreAllowed(t *testing.T) {
	w := &workload{most: 3, unmetRow: none, shortfallRow: none, variants: []variant{
		{most: 2, items: 1}, {most: unlimited, firstItem: 1, items: 1},
	}, places: make([]place, 2)}
	single := *w
	single.single = true
	for _, c := range []struct {
		name    string
		of      *workload
		x       []int32
		allowed bool
	}{
		{"both variants", w, []int32{2, 1}, true},
		{"one variant of those that exclude one another", &single, []int32{0, 3}, true},
		{"two variants of those that exclude one another", &single, []int32{1, 1}, false},
		{"more than the maximum of the workload", w, []int32{0, 4}, false},
		{"more than the maximum of the variant", w, []int32{3, 0}, false},
	} {
		if _, allowed := new(columnStore).newColumn(c.of, c.x); allowed != c.allowed {
			t.Errorf("%s: allowed %v", c.name, allowed)
		}
	}
}
