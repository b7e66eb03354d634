//go:build linux

package controlplane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// network is a part of the loopback interface that no other control plane of this
// machine uses.
type network struct {
	// pods is where pods have their addresses, host where the components listen.
	pods, host string
	// claim keeps others from taking the same network.
	claim net.Listener

	mu    sync.Mutex
	given map[string]bool // addresses
}

const (
	// claimPort is what control planes claim networks by.
	claimPort = 6442
	// firstNetwork to lastNetwork are the second bytes of loopback addresses that are
	// used; what lies below is left to others.
	firstNetwork, lastNetwork = 16, 254
)

func claimNetwork() (*network, error) {
	var failures []error
	for _, n := range rand.Perm(lastNetwork - firstNetwork + 1) {
		host := fmt.Sprintf("127.%d.255.254", firstNetwork+n)
		claim, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, claimPort)) //nolint:noctx // takes no time
		if err == nil {
			return &network{pods: fmt.Sprintf("127.%d.0.0/16", firstNetwork+n), host: host, claim: claim, given: map[string]bool{}}, nil
		}
		failures = append(failures, err)
	}
	return nil, fmt.Errorf("controlplane: all networks are taken: %w", errors.Join(failures...))
}

// addresses are free ones of the network's host, each given once: who asked for it may not
// listen yet.
func (n *network) addresses(count int) ([]string, error) {
	var all []string
	var listeners []net.Listener // open until the end, so that all differ
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(all) < count {
		l, err := net.Listen("tcp", n.host+":0") //nolint:noctx // takes no time
		if err != nil {
			return nil, fmt.Errorf("controlplane: %w", err)
		}
		listeners = append(listeners, l)
		if address := l.Addr().String(); !n.given[address] {
			n.given[address] = true
			all = append(all, address)
		}
	}
	return all, nil
}
