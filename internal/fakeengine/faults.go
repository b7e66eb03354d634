package fakeengine

// Fault is what is wrong with the metrics of a pod.
type Fault int

// Faults of reporting; the engine serves all the same.
const (
	// None: all is well.
	None Fault = iota
	// Silent pods answer scrapes with an error.
	Silent
	// Hanging pods answer scrapes never.
	Hanging
	// NotANumber: gauges are NaN.
	NotANumber
)

// Break gives a fault to the pods of a model that are chosen, by their place in the order
// of their names, and cures the others. Pods that come later are well.
func (f *Fleet) Break(name ModelName, fault Fault, chosen func(place int) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for place, p := range f.podsOf(name) {
		p.fault = None
		if chosen(place) {
			p.fault = fault
		}
	}
}

// Restart lets the engines of all pods of a model begin anew, at once: they drop what they have
// begun, and count from zero.
func (f *Fleet) Restart(name ModelName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.podsOf(name) {
		dropped := p.inside()
		if err := p.start(); err != nil {
			f.errs = append(f.errs, err)
			continue
		}
		f.model(name).dropped += dropped
	}
}
