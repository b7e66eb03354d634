//go:build e2e && linux

package controlplane_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/poolwright/poolwright/internal/controlplane"
)

const (
	patience = 60 * time.Second
	tick     = 50 * time.Millisecond
)

// server is a Deployment of pods of one device each.
func server(name string, replicas int32, annotations map[string]string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "engine", Image: "engine",
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{controlplane.DeviceResource: resource.MustParse("1")}},
				}}},
			},
		},
	}
}

// pods are those of one Deployment: of a Deployment that was just deleted one may still come and go.
func pods(t *testing.T, client kubernetes.Interface, name string) []corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
	require.NoError(t, err)
	return list.Items
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return &corev1.PodCondition{}
}

func ready(pods []corev1.Pod) (n int) {
	for i := range pods {
		if condition(&pods[i], corev1.PodReady).Status == corev1.ConditionTrue {
			n++
		}
	}
	return n
}

// short counts the pods for which no node has a device.
func short(pods []corev1.Pod) (n int) {
	for i := range pods {
		if strings.Contains(condition(&pods[i], corev1.PodScheduled).Message, "Insufficient nvidia.com/gpu") {
			n++
		}
	}
	return n
}

func TestControlPlane(t *testing.T) {
	cluster := controlplane.New(t, controlplane.Config{})
	require.NoError(t, cluster.AddNodes(t.Context(), controlplane.GPUNode("h100-0", "NVIDIA-H100-80GB-HBM3", 8)))
	client := kubernetes.NewForConfigOrDie(cluster.Admin())

	t.Run("nodes have as many pods as devices", func(t *testing.T) {
		_, err := client.AppsV1().Deployments("default").Create(t.Context(), server("big", 12, nil), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			all := pods(t, client, "big")
			return ready(all) == 8 && short(all) == 4
		}, patience, tick)
		for _, p := range pods(t, client, "big") {
			assert.Equal(t, p.Spec.NodeName != "", strings.HasPrefix(p.Status.PodIP, "127."))
		}
	})

	t.Run("the API server can be away", func(t *testing.T) {
		cluster.APIServer.Stop()
		_, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.Error(t, err)
		require.NoError(t, cluster.APIServer.Start(t.Context()))
		assert.Len(t, pods(t, client, "big"), 12)
		_, err = cluster.Kubectl(t.Context(), "scale", "deployment/big", "--replicas=0")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return len(pods(t, client, "big")) == 0 }, patience, tick)
		all, err := cluster.Scalings()
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.WithinDuration(t, time.Now(), all[0].At, patience)
		assert.NotEmpty(t, all[0].Version)
		all[0].At, all[0].Version = time.Time{}, ""
		assert.Equal(t, controlplane.Scaling{User: "admin", Resource: "deployments", Namespace: "default", Name: "big"}, all[0])
	})

	t.Run("what patches set is on record", func(t *testing.T) {
		patch := func(operations string) error {
			_, err := client.AppsV1().Deployments("default").Patch(t.Context(), "big", types.JSONPatchType, []byte(operations), metav1.PatchOptions{}, "scale")
			return err
		}
		require.NoError(t, patch(`[{"op": "test", "path": "/spec/replicas", "value": null}, {"op": "add", "path": "/spec/replicas", "value": 2}]`))
		require.Error(t, patch(`[{"op": "test", "path": "/spec/replicas", "value": 7}, {"op": "add", "path": "/spec/replicas", "value": 3}]`))
		require.NoError(t, patch(`[{"op": "replace", "path": "/spec/replicas", "value": 0}]`))
		all, err := cluster.Scalings()
		require.NoError(t, err)
		require.Len(t, all, 3)
		assert.Equal(t, []int{2, 0}, []int{all[1].Replicas, all[2].Replicas})
		require.Eventually(t, func() bool { return len(pods(t, client, "big")) == 0 }, patience, tick)
	})

	t.Run("what a client has not waited for is on record", func(t *testing.T) {
		_, err := client.AppsV1().Deployments("default").Create(t.Context(), server("left", 0, nil), metav1.CreateOptions{})
		require.NoError(t, err)
		scales := client.AppsV1().Deployments("default")
		for n := range 100 {
			scale, err := scales.GetScale(t.Context(), "left", metav1.GetOptions{})
			require.NoError(t, err)
			scale.Spec.Replicas = 1 - scale.Spec.Replicas
			ctx, leave := context.WithTimeout(t.Context(), time.Duration(n)*100*time.Microsecond)
			_, _ = scales.UpdateScale(ctx, "left", scale, metav1.UpdateOptions{}) // or not
			leave()
		}
		require.Eventually(t, func() bool { // the last of them may be under way
			d, err := scales.Get(t.Context(), "left", metav1.GetOptions{})
			require.NoError(t, err)
			changes := int(d.Generation) - 1
			all, err := cluster.Scalings()
			require.NoError(t, err)
			answered, perhaps := map[string]bool{}, 0
			for _, s := range all {
				switch {
				case s.Name != "left":
				case s.Version == "":
					perhaps++
				default:
					answered[s.Version] = true
				}
			}
			return len(answered) > 0 && len(answered) <= changes && changes <= len(answered)+perhaps
		}, patience, tick)
		require.NoError(t, scales.Delete(t.Context(), "left", metav1.DeleteOptions{}))
	})

	t.Run("models take time to load", func(t *testing.T) {
		annotations := map[string]string{controlplane.LoadTimeAnnotation: "2s"}
		_, err := client.AppsV1().Deployments("default").Create(t.Context(), server("slow", 1, annotations), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return ready(pods(t, client, "slow")) == 1 }, patience, tick)
		p := pods(t, client, "slow")[0]
		took := condition(&p, corev1.PodReady).LastTransitionTime.Sub(p.Status.StartTime.Time)
		assert.GreaterOrEqual(t, took, 2*time.Second)
	})

	t.Run("a pod that the controller of nodes has made unready is ready again", func(t *testing.T) {
		p := pods(t, client, "slow")[0]
		condition(&p, corev1.PodReady).Status = corev1.ConditionFalse
		p.ResourceVersion = ""
		marked, err := client.CoreV1().Pods("default").UpdateStatus(t.Context(), &p, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.Zero(t, ready([]corev1.Pod{*marked}))
		require.Eventually(t, func() bool { return ready(pods(t, client, "slow")) == 1 }, patience, tick)
	})

	t.Run("a pod that is made unready stays so", func(t *testing.T) {
		p := pods(t, client, "slow")[0]
		*condition(&p, corev1.PodReady) = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "Broken"}
		_, err := client.CoreV1().Pods("default").UpdateStatus(t.Context(), &p, metav1.UpdateOptions{})
		require.NoError(t, err)
		for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(tick) {
			require.Zero(t, ready(pods(t, client, "slow")))
		}
	})

	t.Run("a service account has no rights of its own", func(t *testing.T) {
		_, err := cluster.Kubectl(t.Context(), "create", "serviceaccount", "reader")
		require.NoError(t, err)
		account, err := cluster.ServiceAccount(t.Context(), "default", "reader")
		require.NoError(t, err)
		_, err = kubernetes.NewForConfigOrDie(account).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		assert.True(t, apierrors.IsForbidden(err), "%v", err)
	})
}

// Nothing is left of a control plane that did not start.
func TestFailedStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := controlplane.Start(ctx, controlplane.Config{})
	require.ErrorIs(t, err, context.Canceled)
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestStopEndsProcesses(t *testing.T) {
	cluster, err := controlplane.Start(t.Context(), controlplane.Config{})
	require.NoError(t, err)
	var processes []int
	for _, c := range []*controlplane.Component{
		cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler, cluster.Kwok, cluster.Prometheus,
	} {
		processes = append(processes, c.PID())
	}
	require.NoError(t, cluster.Stop())
	for _, pid := range processes {
		assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	}
}
