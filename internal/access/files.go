package access

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// files is what stands in the files of a configuration. It is never changed.
type files struct {
	certificate *tls.Certificate // nil = nothing is encrypted
	peerKey     []byte           // nil = that of the certificate
	peers       *peers
	clients     *x509.CertPool // nil = no certificates are asked for
	tokens      tokens
}

// read reads the files that a configuration names. What cannot be read or understood stays as
// it was, so that a mistake in one file does not let the certificate of another expire; the
// error says what.
func read(c *Config, was *files) (*files, error) {
	now := *was
	var errs []error
	if t := c.TLS; t != nil {
		errs = append(errs, now.readCertificate(t), now.readClients(t), now.readPeerKey(c.Authentication), now.meet(was))
	}
	if a := c.Authentication; a != nil && a.TokenFile != "" {
		errs = append(errs, now.readTokens(a.TokenFile))
	}
	return &now, errors.Join(errs...)
}

// readCertificate takes a certificate and its key only where they belong together: while
// they are exchanged, one may be older than the other.
func (f *files) readCertificate(t *TLS) error {
	pair, err := tls.LoadX509KeyPair(t.CertificateFile, t.KeyFile)
	if err != nil {
		return fmt.Errorf("access: tls.certificateFile: %w", err)
	}
	if f.certificate != nil && slices.EqualFunc(f.certificate.Certificate, pair.Certificate, bytes.Equal) {
		return nil
	}
	f.certificate = &pair
	return nil
}

// leastPeerKey is the length of the shortest key of peers, in bytes.
const leastPeerKey = 32

func (f *files) readPeerKey(a *Authentication) error {
	if a == nil || a.PeerKeyFile == "" {
		f.peerKey = nil
		return nil
	}
	text, err := os.ReadFile(a.PeerKeyFile)
	if err != nil {
		return fmt.Errorf("access: authentication.peerKeyFile: %w", err)
	}
	if text = bytes.TrimSpace(text); len(text) < leastPeerKey {
		return fmt.Errorf("access: authentication.peerKeyFile: %s: a key of less than %d bytes", a.PeerKeyFile, leastPeerKey)
	}
	f.peerKey = text
	return nil
}

// meet finds out who the peers are, where the certificate or the key is another one than it was.
func (f *files) meet(was *files) error {
	if f.certificate == nil || f.certificate == was.certificate && bytes.Equal(f.peerKey, was.peerKey) {
		return nil
	}
	next, err := newPeers(f.certificate, f.peerKey, was.peers, time.Now())
	if err != nil {
		return fmt.Errorf("access: tls.keyFile: %w", err)
	}
	f.peers = next
	return nil
}

func (f *files) readClients(t *TLS) error {
	if t.ClientCAFile == "" {
		f.clients = nil
		return nil
	}
	text, err := os.ReadFile(t.ClientCAFile)
	if err != nil {
		return fmt.Errorf("access: tls.clientCaFile: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("access: tls.clientCaFile: %s: no certificate in it", t.ClientCAFile)
	}
	f.clients = pool
	return nil
}

// verify returns why a certificate is not that of a client.
func (f *files) verify(shown []*x509.Certificate) error {
	if f.clients == nil { // those of the system are not meant
		return errors.New("no certificates of clients are trusted")
	}
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{
		Roots: f.clients, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}

// admit returns why a connection with a certificate is refused where there must be one. Another
// process of this installation has only that of the server.
func (f *files) admit(shown []*x509.Certificate) error {
	if f.peers.has(shown[0], time.Now()) {
		return nil
	}
	return f.verify(shown)
}

func (f *files) readTokens(name string) error {
	text, err := os.ReadFile(name) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("access: authentication.tokenFile: %w", err)
	}
	found, err := readTokens(text)
	if err != nil {
		return fmt.Errorf("access: authentication.tokenFile: %s: %w", name, err)
	}
	f.tokens = found
	return nil
}
