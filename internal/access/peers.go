package access

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// peers are the processes of one installation. They have the same key, that of their certificate
// unless they were given another, and certificates of the same authority for the same name: by
// the one they show who they are, by the other they know whom they ask.
type peers struct {
	key []byte
	// name is what certificates of peers are made out to, roots those who vouch for it: whatever is in
	// the file of the certificate, and the certificate itself. That alone is one where there is no
	// name, as in a mesh: the authority vouches for others that have none as well.
	name        string
	certificate *x509.Certificate
	roots       *x509.CertPool
	// former are those before the certificate or the key was exchanged, and count until then: not all
	// processes exchange it at a time.
	former *peers
	until  time.Time // zero = as long as both stay
}

// peerUser is what a process is called that asks on behalf of others.
const peerUser = "system:poolwright:peer"

const (
	peerMark = "poolwright-peer."
	// peerTime is how long a token of a peer counts, and how far its clock may be off.
	peerTime = time.Minute
	// formerTime is how long processes may take to exchange a certificate or a key: whoever has stolen
	// a key is nobody then.
	formerTime = 10 * time.Minute
)

// newPeers are those with a certificate and a secret; nil = the key of the certificate.
func newPeers(pair *tls.Certificate, secret []byte, former *peers, now time.Time) (*peers, error) {
	if secret == nil {
		var err error
		if secret, err = x509.MarshalPKCS8PrivateKey(pair.PrivateKey); err != nil {
			return nil, err
		}
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "poolwright: one process of an installation asks another", sha256.Size)
	if err != nil {
		return nil, err
	}
	p := &peers{key: key, name: nameIn(pair.Leaf), certificate: pair.Leaf, roots: x509.NewCertPool()}
	if former != nil {
		before := *former
		before.former, before.until = nil, now.Add(formerTime)
		p.former = &before
	}
	trusted := pair.Certificate
	if p.name == "" {
		trusted = trusted[:1]
	}
	for _, der := range trusted {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		p.roots.AddCert(c)
	}
	return p, nil
}

// nameIn is the first name of a certificate.
func nameIn(c *x509.Certificate) string {
	switch {
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return ""
}

// token is what a peer shows now.
func (p *peers) token(now time.Time) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(now.Unix())) //nolint:gosec // after 1970
	return peerMark + base64.RawURLEncoding.EncodeToString(append(at, p.sign(at)...))
}

func (p *peers) sign(at []byte) []byte {
	mac := hmac.New(sha256.New, p.key)
	mac.Write(at)
	return mac.Sum(nil)
}

// isPeer tells whether a token is that of a peer.
func (p *peers) isPeer(token string, now time.Time) bool {
	text, ok := strings.CutPrefix(token, peerMark)
	shown, err := base64.RawURLEncoding.DecodeString(text)
	if !ok || err != nil || len(shown) != 8+sha256.Size {
		return false
	}
	at, mac := shown[:8], shown[8:]
	age := now.Sub(time.Unix(int64(binary.BigEndian.Uint64(at)), 0)) //nolint:gosec // what is too large is too old
	if age.Abs() > peerTime {
		return false
	}
	for ; p.counts(now); p = p.former {
		if hmac.Equal(mac, p.sign(at)) {
			return true
		}
	}
	return false
}

// counts tells whether these are peers now; those that there are not do not.
func (p *peers) counts(now time.Time) bool {
	return p != nil && (p.until.IsZero() || now.Before(p.until))
}

// has tells whether a certificate is that of all peers.
func (p *peers) has(c *x509.Certificate, now time.Time) bool {
	for ; p.counts(now); p = p.former {
		if p.certificate.Equal(c) {
			return true
		}
	}
	return false
}

// verify returns why a server is no peer.
func (p *peers) verify(shown []*x509.Certificate, now time.Time) error {
	if len(shown) == 0 {
		return errors.New("access: it shows no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	var errs []error
	for ; p.counts(now); p = p.former {
		_, err := shown[0].Verify(x509.VerifyOptions{DNSName: p.name, Roots: p.roots, Intermediates: between, CurrentTime: now})
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("access: it is no other process of this installation: %w", errors.Join(errs...))
}
