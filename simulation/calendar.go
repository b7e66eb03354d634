package simulation

// kind says what an event does. Of events at one moment, those of a smaller kind come first.
type kind int8

const (
	windowEnds kind = iota
	devicesReturn
	lossIsAnnounced
	devicesAreLost
	replicaIsReady
	promptArrives // at the replica that decodes
	heldAreRouted
	holdEnds
	autoscalerLooks
)

// event is something due that is neither an arrival nor an iteration of a replica.
type event struct {
	at   float64
	kind kind
	// subject is what it happens to: a server, a request, a workload or a disruption.
	subject int32
	// number counts events: first planned, first carried out.
	number int64
}

func (e *event) before(other *event) bool {
	switch {
	case e.at != other.at:
		return e.at < other.at
	case e.kind != other.kind:
		return e.kind < other.kind
	}
	return e.number < other.number
}

// calendar is a binary heap of events. Its zero value is empty.
type calendar struct {
	events []event
	number int64
}

func (c *calendar) add(at float64, k kind, subject int32) {
	c.number++
	e := event{at: at, kind: k, subject: subject, number: c.number}
	c.events = append(c.events, e)
	i := len(c.events) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&c.events[parent]) {
			break
		}
		c.events[i] = c.events[parent]
		i = parent
	}
	c.events[i] = e
}

// pop removes and returns the next event. There must be one.
func (c *calendar) pop() event {
	first := c.events[0]
	n := len(c.events) - 1
	last := c.events[n]
	c.events = c.events[:n]
	i := 0
	for child := 1; child < n; child = 2*i + 1 {
		if child+1 < n && c.events[child+1].before(&c.events[child]) {
			child++
		}
		if !c.events[child].before(&last) {
			break
		}
		c.events[i] = c.events[child]
		i = child
	}
	if n > 0 {
		c.events[i] = last
	}
	return first
}
