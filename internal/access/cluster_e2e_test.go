//go:build e2e

package access_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/resource/servertest"
)

// callers are accounts of a cluster, and what they may ask.
const callers = `
apiVersion: v1
kind: Namespace
metadata: {name: team-a}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: dashboard, namespace: team-a}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: poolwright-viewer}
rules:
- apiGroups: [poolwright.dev]
  resources: [fleet]
  verbs: [getfleet, listdecisions, watchdecisions]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: poolwright-viewer, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: poolwright-viewer}
subjects: [{kind: ServiceAccount, name: dashboard, namespace: team-a}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: poolwright-planner}
rules:
- apiGroups: [poolwright.dev]
  resources: [optimizer]
  verbs: ["*"]
- nonResourceURLs: [/metrics]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: poolwright-planner}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: poolwright-planner}
subjects: [{kind: Group, name: "system:serviceaccounts:team-a", apiGroup: rbac.authorization.k8s.io}]
`

// A real API server says who calls and what they may, to the service account with its role and to
// no other.
func TestCluster(t *testing.T) {
	s := servertest.New(t)
	s.Apply(write(t, t.TempDir(), "callers.yaml", callers), "../../deploy/kubernetes/rbac.yaml")
	own, err := s.ServiceAccount(t.Context(), "poolwright", "poolwright")
	require.NoError(t, err)
	c := access.Config{
		Authentication: &access.Authentication{TokenReview: &access.TokenReview{}},
		Authorization:  &access.Authorization{SubjectAccessReview: &access.SubjectAccessReview{}},
	}
	a, err := access.New(c, kubernetes.NewForConfigOrDie(own))
	require.NoError(t, err)
	caller, err := s.ServiceAccount(t.Context(), "team-a", "dashboard")
	require.NoError(t, err)
	ctx := t.Context()

	u, err := a.Authenticate(ctx, access.Shown{Token: caller.BearerToken})
	require.NoError(t, err)
	require.Equal(t, "system:serviceaccount:team-a:dashboard", u.Name)
	require.Contains(t, u.Groups, "system:serviceaccounts:team-a")
	for _, wrong := range []string{"x", caller.BearerToken + "x", caller.BearerToken[:len(caller.BearerToken)-20]} {
		_, err = a.Authenticate(ctx, access.Shown{Token: wrong})
		require.ErrorIs(t, err, access.ErrUnauthenticated)
	}

	scope, err := a.Admit(ctx, u, getFleet())
	require.NoError(t, err)
	require.False(t, scope.Everywhere())
	for namespace, want := range map[string]bool{"team-a": true, "team-b": false, "": false} {
		has, err := scope.Has(ctx, namespace, nil)
		require.NoError(t, err)
		require.Equal(t, want, has, namespace)
	}
	for question, allowed := range map[access.Question]bool{
		{Method: "OptimizerService/Optimize"}:    true,
		{Method: "SimulationService/Simulate"}:   false,
		{Path: "/metrics", Verb: "get"}:          true,
		{Path: "/openapi.json", Verb: "get"}:     false,
		{Path: "/debug/pprof/heap", Verb: "get"}: false,
	} {
		_, err := a.Admit(ctx, u, question)
		if allowed {
			require.NoError(t, err, question)
		} else {
			require.ErrorIs(t, err, access.ErrDenied, question)
		}
	}
	pause, err := a.Admit(ctx, u, access.Question{Method: "FleetService/PauseWorkload", Namespaced: true})
	require.NoError(t, err)
	has, err := pause.Has(ctx, "team-a", nil)
	require.NoError(t, err)
	require.False(t, has, "a viewer pauses nothing")
	_, err = a.Admit(ctx, access.Anonymous(), access.Question{Method: "OptimizerService/Optimize"})
	require.ErrorIs(t, err, access.ErrUnauthenticated)

	// A token that has ended, or that is for others.
	admin := kubernetes.NewForConfigOrDie(s.Admin())
	request, err := admin.CoreV1().ServiceAccounts("team-a").CreateToken(ctx, "dashboard", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"poolwright"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = a.Authenticate(ctx, access.Shown{Token: request.Status.Token})
	require.ErrorIs(t, err, access.ErrUnauthenticated)
	c.Authentication = &access.Authentication{TokenReview: &access.TokenReview{Audiences: []string{"poolwright"}}}
	require.NoError(t, a.Reload(c))
	_, err = a.Authenticate(ctx, access.Shown{Token: request.Status.Token})
	require.NoError(t, err)
	_, err = a.Authenticate(ctx, access.Shown{Token: caller.BearerToken})
	require.ErrorIs(t, err, access.ErrUnauthenticated)
	require.NoError(t, admin.CoreV1().ServiceAccounts("team-a").Delete(ctx, "dashboard", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err = a.Authenticate(ctx, access.Shown{Token: request.Status.Token})
		return err != nil
	}, 30*time.Second, 100*time.Millisecond)
	require.ErrorIs(t, err, access.ErrUnauthenticated)

	// Each rule of the role is needed.
	without, err := access.New(c, kubernetes.NewForConfigOrDie(caller))
	require.NoError(t, err)
	_, err = without.Authenticate(ctx, access.Shown{Token: "x"})
	require.Error(t, err)
	require.NotErrorIs(t, err, access.ErrUnauthenticated)
	_, err = without.Admit(ctx, u, getFleet())
	require.Error(t, err)
	require.NotErrorIs(t, err, access.ErrDenied)
}
