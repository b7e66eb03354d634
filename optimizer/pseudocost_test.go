package optimizer

import "testing"

func TestPseudocosts(t *testing.T) {
	p := newPseudocosts(3)
	if got := p.expected(0, below, 2); got != 2 {
		t.Errorf("nothing seen: %v, want what is moved", got)
	}
	p.see(0, below, 2, 6)
	p.see(0, below, 1, 1)
	p.see(0, below, 0, 5)
	p.see(1, below, 1, -1)
	for _, c := range []struct {
		item, side  int
		moved, want float64
	}{
		{0, below, 10, 20},  // (3 + 1)/2 of what is moved
		{2, below, 9, 12},   // not seen: (3 + 1 + 0)/3
		{1, below, 3, 4e-9}, // a loss is no gain; the mean of all keeps it above 0
		{1, above, 5, 5},    // nothing seen above
		{0, above, 0, 0},    // nothing moved
	} {
		if got := p.expected(c.item, c.side, c.moved); !closeTo(got, c.want) {
			t.Errorf("item %d, side %d, moving %v: %v, want %v", c.item, c.side, c.moved, got, c.want)
		}
	}
	p.see(0, above, 1, 1)
	if p.reliable(0, 2) || !p.reliable(0, 1) || p.reliable(1, 1) {
		t.Error("reliable before both sides were seen so often, or not then")
	}
}

func closeTo(a, b float64) bool { return a >= b*(1-1e-6) && a <= b*(1+1e-6) }
