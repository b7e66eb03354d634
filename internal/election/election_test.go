package election_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/poolwright/poolwright/internal/election"
)

func config() election.Config {
	return election.Config{
		Namespace: "poolwright", Name: "poolwright",
		LeaseDuration: time.Second, RenewDeadline: 500 * time.Millisecond, RetryPeriod: 20 * time.Millisecond,
	}
}

// versioned is a client whose leases, as a real API server's, are only updated by who has
// read their last version.
func versioned() *fake.Clientset {
	client := fake.NewClientset()
	var mu sync.Mutex
	version := 0
	client.PrependReactor("update", "leases", func(action kubetesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		update := action.(kubetesting.UpdateAction)
		lease := update.GetObject().(*coordinationv1.Lease)
		now, err := client.Tracker().Get(update.GetResource(), lease.Namespace, lease.Name)
		if err != nil {
			return true, nil, err
		}
		if now.(*coordinationv1.Lease).ResourceVersion != lease.ResourceVersion {
			return true, nil, apierrors.NewConflict(update.GetResource().GroupResource(), lease.Name, nil)
		}
		version++
		lease = lease.DeepCopy()
		lease.ResourceVersion = strconv.Itoa(version)
		return true, lease, client.Tracker().Update(update.GetResource(), lease, lease.Namespace)
	})
	return client
}

// One leads at a time, and the next one takes over as soon as the last one has returned.
func TestOneLeadsAtATime(t *testing.T) {
	client := versioned()
	var leading, most, terms atomic.Int32
	lead := func(ctx, held context.Context, mandate *election.Mandate) error {
		most.Store(max(most.Load(), leading.Add(1)))
		terms.Add(1)
		if err := mandate.Valid(); err != nil {
			return err
		}
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // what was begun is brought to its end
		leading.Add(-1)
		return held.Err()
	}
	ended := make(chan error, 3)
	var stops []context.CancelFunc
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		stops = append(stops, stop)
		go func() { ended <- election.Run(ctx, client, config(), lead) }()
	}
	for i := range stops {
		require.Eventually(t, func() bool { return terms.Load() >= 1 && leading.Load() == 1 }, 10*time.Second, time.Millisecond, "%d", i)
		stops[i]()
		require.NoError(t, <-ended)
	}
	require.Equal(t, int32(1), most.Load())
	lease, err := client.CoordinationV1().Leases("poolwright").Get(t.Context(), "poolwright", metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, *lease.Spec.HolderIdentity, "the lease is given back")
}

// A leader that cannot renew its lease is told to stop, may not write, and stands again.
func TestLostLease(t *testing.T) {
	client := fake.NewClientset()
	var unreachable atomic.Bool
	client.PrependReactor("*", "leases", func(kubetesting.Action) (bool, runtime.Object, error) {
		if unreachable.Load() {
			return true, nil, errors.New("unreachable")
		}
		return false, nil, nil
	})
	invalid := make(chan error, 2)
	terms := make(chan int, 2)
	again := make(chan bool, 2)
	term := 0
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- election.Run(ctx, client, config(), func(ctx, _ context.Context, mandate *election.Mandate) error {
			term++
			terms <- term
			again <- mandate.Again
			<-ctx.Done()
			invalid <- mandate.Valid()
			return nil
		})
	}()
	require.Equal(t, 1, <-terms)
	unreachable.Store(true)
	require.ErrorContains(t, <-invalid, "election:")
	unreachable.Store(false)
	require.Equal(t, 2, <-terms)
	require.Equal(t, []bool{false, true}, []bool{<-again, <-again}, "nobody led in between")
	stop()
	require.NoError(t, <-ended)
}

// Everybody is told who leads, and where it is reached.
func TestLeaderIsKnown(t *testing.T) {
	client := versioned()
	ctx, stop := context.WithCancel(t.Context())
	var known [2]chan election.Leader
	ended := make(chan error, 2)
	run := func(i int, address string) {
		known[i] = make(chan election.Leader, 8)
		c := config()
		c.Address, c.Changed = address, func(l election.Leader) { known[i] <- l }
		go func() {
			ended <- election.Run(ctx, client, c, func(ctx, _ context.Context, _ *election.Mandate) error {
				<-ctx.Done()
				return nil
			})
		}()
	}
	run(0, "10.0.0.1:9090")
	first := <-known[0]
	require.True(t, first.Self)
	require.Equal(t, "10.0.0.1:9090", first.Address)
	run(1, "")
	require.Equal(t, election.Leader{Identity: first.Identity, Address: first.Address}, <-known[1])
	stop()
	require.NoError(t, errors.Join(<-ended, <-ended))
}

// What lead returns ends the candidacy.
func TestLeadFails(t *testing.T) {
	broken := errors.New("broken")
	err := election.Run(t.Context(), fake.NewClientset(), config(), func(_, _ context.Context, _ *election.Mandate) error { return broken })
	require.ErrorIs(t, err, broken)
}

func TestInvalidConfig(t *testing.T) {
	c := election.Config{LeaseDuration: 1500 * time.Millisecond, RenewDeadline: 2 * time.Second, RetryPeriod: 1700 * time.Millisecond}
	const mistakes = `election: leaseDuration: 1.5s is not of whole seconds, as a Lease has them
election: leaseDuration: 1.5s is not longer than the renew deadline of 2s
election: renewDeadline: 2s is not longer than 1.2 times the retry period of 1.7s`
	require.EqualError(t, c.Validate(), mistakes)
	err := election.Run(t.Context(), fake.NewClientset(), c, func(_, _ context.Context, _ *election.Mandate) error { return nil })
	require.EqualError(t, err, mistakes)

	c = config()
	require.NoError(t, c.Validate())
	c.RetryPeriod = 0
	require.EqualError(t, c.Validate(), "election: retryPeriod: 0s is not positive")
}
