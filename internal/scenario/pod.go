package scenario

import "time"

// variant is what the cluster knows of a variant beside its declaration.
type variant struct {
	// asked is the number of replicas that somebody asked for last.
	asked int
	pods  []pod // the oldest first
	// capacity is what one ready replica completes, in requests/s.
	capacity float64
	// startup is how long a replica takes until it serves, whatever is declared.
	startup time.Duration
	// stuck: replicas that start never become ready.
	stuck bool
	// profileless: the catalog knows neither a profile nor a capacity.
	profileless bool
}

// phase is how far a replica has come.
type phase int

const (
	// pending replicas have no devices.
	pending phase = iota
	// starting replicas have devices and do not serve.
	starting
	ready
	// leaving replicas do not serve any more, and have their devices still.
	leaving
)

// pod is one replica.
type pod struct {
	phase phase
	// pool is where its devices are; it means nothing while pending.
	pool int
	// until is when starting or leaving ends.
	until time.Time
	// stuck: starting does not end.
	stuck bool
	// early replicas were there before the story began, and need no time to start.
	early bool
}

// schedule gives devices to a pending replica.
func (p *pod) schedule(pool int, now time.Time, startup time.Duration, stuck bool) {
	p.pool = pool
	if p.early {
		*p = pod{phase: ready, pool: pool}
		return
	}
	*p = pod{phase: starting, pool: pool, until: now.Add(startup), stuck: stuck}
	p.advance(now)
}

// advance ends what has ended by now; false when the replica is gone.
func (p *pod) advance(now time.Time) bool {
	ended := !p.until.After(now)
	if p.phase == starting && ended && !p.stuck {
		p.phase = ready
	}
	return p.phase != leaving || !ended
}

// settle lets time pass, and adds or removes replicas until there are as many as asked.
func (v *variant) settle(now time.Time, termination time.Duration) {
	kept := v.pods[:0]
	for _, p := range v.pods {
		if p.advance(now) {
			kept = append(kept, p)
		}
	}
	v.pods = kept
	for n := v.asked - v.alive(); n > 0; n-- {
		v.pods = append(v.pods, pod{})
	}
	for _, first := range []phase{pending, starting, ready} {
		v.remove(first, v.alive()-v.asked, now.Add(termination))
	}
}

// remove takes up to n replicas of one phase away, the youngest first.
func (v *variant) remove(from phase, n int, gone time.Time) {
	for k := len(v.pods) - 1; k >= 0 && n > 0; k-- {
		if v.pods[k].phase != from {
			continue
		}
		n--
		if from == pending {
			v.pods = append(v.pods[:k], v.pods[k+1:]...)
			continue
		}
		v.pods[k].phase, v.pods[k].until = leaving, gone
	}
}

// evict takes the devices in a pool from one replica, the youngest there: it starts
// anew somewhere else, unless it was leaving. It returns false if there is none.
func (v *variant) evict(pool int) bool {
	for k := len(v.pods) - 1; k >= 0; k-- {
		p := &v.pods[k]
		if p.phase == pending || p.pool != pool {
			continue
		}
		if p.phase == leaving {
			v.pods = append(v.pods[:k], v.pods[k+1:]...)
		} else {
			*p = pod{}
		}
		return true
	}
	return false
}

// restart lets up to n ready replicas start anew where they are.
func (v *variant) restart(n int, now time.Time) {
	for k := range v.pods {
		if p := &v.pods[k]; p.phase == ready && n > 0 {
			n--
			p.phase = pending
			p.schedule(p.pool, now, v.startup, v.stuck)
		}
	}
}

// release lets replicas that were stuck start.
func (v *variant) release(now time.Time) {
	v.stuck = false
	for k := range v.pods {
		if p := &v.pods[k]; p.phase == starting && p.stuck {
			p.stuck, p.until = false, now.Add(v.startup)
		}
	}
}

func (v *variant) count(in phase) int {
	n := 0
	for _, p := range v.pods {
		if p.phase == in {
			n++
		}
	}
	return n
}

// alive is the number of replicas that are not leaving.
func (v *variant) alive() int { return len(v.pods) - v.count(leaving) }

// holding is the number of replicas with devices in a pool.
func (v *variant) holding(pool int) int {
	n := 0
	for _, p := range v.pods {
		if p.phase != pending && p.pool == pool {
			n++
		}
	}
	return n
}
