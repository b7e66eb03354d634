package kube_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/kube"
)

const twoClusters = `
apiVersion: v1
kind: Config
current-context: here
clusters:
- {name: a, cluster: {server: "https://127.0.0.1:1"}}
- {name: b, cluster: {server: "https://127.0.0.1:2"}}
contexts:
- {name: here, context: {cluster: a}}
- {name: there, context: {cluster: b, namespace: inference}}
`

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(twoClusters), 0o600))

	r, namespace, err := kube.Load(kube.Config{Kubeconfig: file})
	require.NoError(t, err)
	require.Equal(t, "default", namespace)
	require.Equal(t, "https://127.0.0.1:1", r.Host)
	require.Equal(t, float32(500), r.QPS)
	require.Equal(t, 1000, r.Burst)

	r, namespace, err = kube.Load(kube.Config{Kubeconfig: file, Context: "there", QPS: 7, Burst: 9})
	require.NoError(t, err)
	require.Equal(t, "inference", namespace)
	require.Equal(t, "https://127.0.0.1:2", r.Host)
	require.Equal(t, float32(7), r.QPS)
	require.Equal(t, 9, r.Burst)

	_, err = kube.New(r)
	require.NoError(t, err)

	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	_, _, err = kube.Load(kube.Config{})
	require.EqualError(t, err, "kube: no cluster: there is no kubeconfig file, and the process does not run in a cluster")

	_, _, err = kube.Load(kube.Config{Kubeconfig: file, Context: "nowhere"})
	require.ErrorContains(t, err, "kube: no cluster")
	_, _, err = kube.Load(kube.Config{Kubeconfig: filepath.Join(t.TempDir(), "none")})
	require.ErrorContains(t, err, "no such file")
}
