package election

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Config of an election.
type Config struct {
	// Namespace and Name of the Lease.
	Namespace, Name string
	// LeaseDuration is how long others wait for a leader that is silent, RenewDeadline how
	// long a leader goes on that cannot renew its lease, and RetryPeriod the time between
	// attempts: LeaseDuration > RenewDeadline > 1.2 × RetryPeriod. A Lease says its
	// duration in whole seconds, so it has to be of such: what others read would otherwise
	// be shorter.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Address is where others reach this process; empty = nowhere.
	Address string
	// Changed is told who leads, when that changes; nil = nobody is told.
	Changed func(Leader)
}

// Leader is the process that leads.
type Leader struct {
	// Identity of the process in the Lease; empty = nobody leads.
	Identity string
	// Address is where it is reached; empty = nowhere.
	Address string
	// Self: it is this process.
	Self bool
}

// addressMark is followed by the address in an identity.
const addressMark = "@"

func (c *Config) identity(host string) string {
	identity := host + "_" + string(uuid.NewUUID())
	if c.Address != "" {
		identity += addressMark + c.Address
	}
	return identity
}

// retryJitter is how much longer than its period client-go may wait.
const retryJitter = 1.2

// Validate reports every mistake with its path.
func (c *Config) Validate() error {
	var errs []error
	add := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("election: %s: %s", path, fmt.Sprintf(format, args...)))
	}
	if c.LeaseDuration%time.Second != 0 {
		add("leaseDuration", "%s is not of whole seconds, as a Lease has them", c.LeaseDuration)
	}
	if c.LeaseDuration <= c.RenewDeadline {
		add("leaseDuration", "%s is not longer than the renew deadline of %s", c.LeaseDuration, c.RenewDeadline)
	}
	if c.RenewDeadline.Seconds() <= retryJitter*c.RetryPeriod.Seconds() {
		add("renewDeadline", "%s is not longer than %g times the retry period of %s", c.RenewDeadline, retryJitter, c.RetryPeriod)
	}
	if c.RetryPeriod <= 0 {
		add("retryPeriod", "%s is not positive", c.RetryPeriod)
	}
	return errors.Join(errs...)
}

// Mandate is what a leader was given.
type Mandate struct {
	// Again: this process led before, and nobody else since.
	Again   bool
	elector *leaderelection.LeaderElector
	config  *Config
}

// Valid returns an error once the lease was last renewed longer ago than the renew
// deadline: then nothing may be written, as another process may soon lead. It looks at the
// clock, so that it also tells a process that was stopped for a while.
func (m *Mandate) Valid() error {
	if m == nil {
		return nil
	}
	if !m.elector.IsLeader() {
		return fmt.Errorf("election: the lease %s/%s is lost", m.config.Namespace, m.config.Name)
	}
	if err := m.elector.Check(m.config.RenewDeadline - m.config.LeaseDuration); err != nil {
		return fmt.Errorf("election: %w", err)
	}
	return nil
}

// Lead is what a leader does until ctx ends, which it does with the lease or when it is to end.
// What it has begun by then may be brought to its end while the lease is held.
type Lead func(ctx, held context.Context, mandate *Mandate) error

// Run stands for election until ctx ends, and calls lead whenever this process is the
// leader. The lease is given back only after lead has returned, so that two processes never
// lead at a time. An error of lead ends Run.
func Run(ctx context.Context, client kubernetes.Interface, c Config, lead Lead) error {
	if err := c.Validate(); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("election: %w", err)
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: c.identity(host)},
	}
	e := &candidacy{client: client, lock: lock, config: &c, lead: lead, transitions: -1}
	for ctx.Err() == nil {
		if err := e.term(ctx); err != nil {
			return err
		}
	}
	return nil
}

// candidacy is what Run was given, and what became of its terms so far.
type candidacy struct {
	client kubernetes.Interface
	lock   resourcelock.Interface
	config *Config
	lead   Lead
	// transitions is how often the Lease had changed hands when this process led last; -1 =
	// it never has.
	transitions int32
}

// mandate begins a term.
func (e *candidacy) mandate(ctx context.Context, elector *leaderelection.LeaderElector) *Mandate {
	m := &Mandate{config: e.config, elector: elector}
	// The elector's own lock is not for two goroutines.
	lease, err := e.client.CoordinationV1().Leases(m.config.Namespace).Get(ctx, m.config.Name, metav1.GetOptions{})
	if err != nil || lease.Spec.LeaseTransitions == nil {
		e.transitions = -1 // it is not known who led in between
		return m
	}
	m.Again, e.transitions = *lease.Spec.LeaseTransitions == e.transitions, *lease.Spec.LeaseTransitions
	return m
}

// term is one candidacy, from waiting to the end of the lease.
func (e *candidacy) term(ctx context.Context) error {
	c := e.config
	standing, withdraw := context.WithCancel(context.WithoutCancel(ctx))
	defer withdraw()
	var elected atomic.Bool
	ended := make(chan error, 1)
	var elector *leaderelection.LeaderElector // what it calls back asks it
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: e.lock, Name: c.Name, ReleaseOnCancel: true,
		LeaseDuration: c.LeaseDuration, RenewDeadline: c.RenewDeadline, RetryPeriod: c.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(held context.Context) {
				elected.Store(true)
				leading, stop := context.WithCancel(held)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				ended <- e.lead(leading, held, e.mandate(held, elector))
				withdraw()
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				if c.Changed != nil {
					_, address, _ := strings.Cut(identity, addressMark)
					c.Changed(Leader{Identity: identity, Address: address, Self: identity == e.lock.Identity()})
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("election: %w", err)
	}
	// Whoever leads withdraws by itself, once it is done.
	defer context.AfterFunc(ctx, func() {
		if !elected.Load() {
			withdraw()
		}
	})()
	elector.Run(standing)
	if !elected.Load() {
		return nil
	}
	return <-ended
}
