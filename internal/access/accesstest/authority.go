// Package accesstest issues certificates for tests.
package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority issues certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Certificate is one of an authority, with its key.
type Certificate struct {
	tls.Certificate
	// PEM and KeyPEM are both as files have them.
	PEM, KeyPEM []byte
}

// New returns an authority of its own making.
func New(t testing.TB, name string) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &Authority{certificate, key}
}

// PEM is the certificate of the authority as a file has it.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Pool is the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Server issues a certificate for 127.0.0.1 and names.
func (a *Authority) Server(t testing.TB, names ...string) Certificate {
	t.Helper()
	return a.issue(t, &x509.Certificate{
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotAfter: time.Now().Add(time.Hour),
	})
}

// Nameless issues a certificate for a server whose name nobody knows.
func (a *Authority) Nameless(t testing.TB) Certificate {
	t.Helper()
	return a.issue(t, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotAfter: time.Now().Add(time.Hour)})
}

// Client issues a certificate for a user of groups, until a time.
func (a *Authority) Client(t testing.TB, until time.Time, user string, groups ...string) Certificate {
	t.Helper()
	return a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: user, Organization: groups}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotAfter: until,
	})
}

func (a *Authority) issue(t testing.TB, template *x509.Certificate) Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template.NotBefore, template.KeyUsage = time.Now().Add(-time.Hour), x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	c := Certificate{
		PEM:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		KeyPEM: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}
	c.Certificate, err = tls.X509KeyPair(c.PEM, c.KeyPEM)
	require.NoError(t, err)
	return c
}

// Write puts the certificate into a folder, as tls.crt and tls.key.
func (c *Certificate) Write(t testing.TB, folder string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "tls.crt"), c.PEM, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "tls.key"), c.KeyPEM, 0o600))
}
