package keda_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"

	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/access/accesstest"
	"github.com/poolwright/poolwright/test/keda/scalers"
)

// patience is how long anything may take.
const patience = time.Minute

var scaler string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "poolwright-keda-")
	if err == nil {
		scaler = filepath.Join(folder, "scaler")
		build := exec.Command("go", "build", "-o", scaler, "./scaler")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// service is Poolwright's external scaler in a process of its own.
type service struct {
	address string
	process *exec.Cmd
	in      io.Writer
	out     *bufio.Scanner
}

// start starts a service that everybody may ask; its address may be an old one's.
func start(t *testing.T, address string) *service {
	t.Helper()
	return startFor(t, address, access.Config{})
}

// startFor starts a service that some may ask.
func startFor(t *testing.T, address string, c access.Config) *service {
	t.Helper()
	reach, err := json.Marshal(c)
	require.NoError(t, err)
	process := exec.Command(scaler, address, string(reach))
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	require.NoError(t, err)
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	s := &service{process: process, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(s.kill)
	require.True(t, s.out.Scan(), "it did not start")
	s.address = s.out.Text()
	return s
}

func (s *service) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// decide tells the service a decision.
func (s *service) decide(t *testing.T, decision string) {
	t.Helper()
	_, err := fmt.Fprintln(s.in, decision)
	require.NoError(t, err)
	require.True(t, s.out.Scan(), "the service has ended")
}

// trigger is the external trigger of a ScaledObject team/chat that asks a service, the
// second of its triggers.
func trigger(address string, kind autoscalingv2.MetricTargetType) *scalersconfig.ScalerConfig {
	return &scalersconfig.ScalerConfig{
		ScalableObjectName: "chat", ScalableObjectNamespace: "team", ScalableObjectType: "ScaledObject",
		TriggerType: "external", TriggerIndex: 1, MetricType: kind,
		TriggerMetadata: map[string]string{"scalerAddress": address, "workload": "chat", "variant": "h100"},
	}
}

const metric = "s1-poolwright_desired_replicas"

func pull(t *testing.T, address string) scalers.Scaler {
	t.Helper()
	client, err := scalers.NewExternalScaler(trigger(address, autoscalingv2.AverageValueMetricType))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// ask returns what KEDA reads from a scaler.
func ask(t *testing.T, client scalers.Scaler) (replicas int64, active bool, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // KEDA's patience
	defer cancel()
	values, active, err := client.GetMetricsAndActivity(ctx, metric)
	if err != nil {
		return 0, active, err
	}
	require.Len(t, values, 1)
	require.Equal(t, metric, values[0].MetricName)
	return values[0].Value.MilliValue() / 1000, active, nil
}

func TestPull(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	client := pull(t, s.address)
	for _, test := range []struct {
		decision string
		replicas int64
		active   bool
	}{
		{`{"replicas": 2, "to": 5}`, 5, true},
		{`{"replicas": 5, "to": 5}`, 5, true},
		{`{"replicas": 5, "to": 1000}`, 1000, true},
		{`{"replicas": 1, "to": 0}`, 0, false},
		{`{"replicas": 3, "to": 3, "unknown": true}`, 3, true},
		{`{"replicas": 3, "to": 0, "unknown": true}`, 0, true},
	} {
		s.decide(t, test.decision)
		replicas, active, err := ask(t, client)
		require.NoError(t, err, test.decision)
		require.Equal(t, test.replicas, replicas, test.decision)
		require.Equal(t, test.active, active, test.decision)
	}
}

// With a target of one per replica, and the sum of it, the HorizontalPodAutoscaler arrives
// at the number of replicas.
func TestMetricOfTheHorizontalPodAutoscaler(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	average := pull(t, s.address).GetMetricSpecForScaling(t.Context())
	require.Len(t, average, 1)
	require.EqualValues(t, autoscalingv2.ExternalMetricSourceType, average[0].Type)
	require.Equal(t, metric, average[0].External.Metric.Name)
	require.Equal(t, autoscalingv2.AverageValueMetricType, average[0].External.Target.Type)
	require.EqualValues(t, 1000, average[0].External.Target.AverageValue.MilliValue())
}

func TestPush(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	s.decide(t, `{"replicas": 0, "to": 0}`)
	client, err := scalers.NewExternalPushScaler(trigger(s.address, autoscalingv2.AverageValueMetricType))
	require.NoError(t, err)
	defer func() { _ = client.Close(context.Background()) }()
	ctx, cancel := context.WithCancel(t.Context())
	pushed := make(chan bool)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client.Run(ctx, pushed)
	}()
	_, active, err := ask(t, client)
	require.NoError(t, err)
	require.False(t, active)
	s.decide(t, `{"replicas": 0, "to": 3}`)
	select {
	case active := <-pushed:
		require.True(t, active)
	case <-time.After(patience):
		t.Fatal("the wake-up was not pushed")
	}
	replicas, active, err := ask(t, client)
	require.NoError(t, err)
	require.True(t, active)
	require.EqualValues(t, 3, replicas)
	cancel()
	for range pushed {
		t.Error("pushed twice")
	}
	<-ended
}

// documented reads the manifest of a kind in the documentation.
func documented(t *testing.T, kind string, object any) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "keda.md"))
	require.NoError(t, err)
	begin := "```yaml\napiVersion: keda.sh/v1alpha1\n"
	_, rest, ok := strings.Cut(string(page), begin+"kind: "+kind+"\n")
	require.True(t, ok)
	text, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	require.NoError(t, yaml.UnmarshalStrict([]byte("kind: "+kind+"\n"+text), object))
}

// Encrypted, KEDA is known by the certificate that the documented TriggerAuthentication gives it.
func TestEncrypted(t *testing.T) {
	var authentication kedav1alpha1.TriggerAuthentication
	documented(t, "TriggerAuthentication", &authentication)
	authority, clients, folder := accesstest.New(t, "CA"), accesstest.New(t, "clients"), t.TempDir()
	certificate := authority.Server(t, "poolwright.poolwright.svc")
	certificate.Write(t, folder)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "clients.crt"), clients.PEM(), 0o600))
	s := startFor(t, "127.0.0.1:0", access.Config{
		TLS: &access.TLS{
			CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key"), ClientCAFile: filepath.Join(folder, "clients.crt"),
		},
		Authentication: &access.Authentication{ClientCertificates: true},
		Authorization: &access.Authorization{Rules: []access.Rule{
			{Users: []string{"keda-operator"}, Methods: []string{"ExternalScaler/*"}, Namespaces: []string{"team"}},
		}},
	})
	s.decide(t, `{"replicas": 2, "to": 5}`)
	config := func(authority *accesstest.Authority, user string) *scalersconfig.ScalerConfig {
		shown := clients.Client(t, time.Now().Add(time.Hour), user)
		files := map[string][]byte{"ca.crt": authority.PEM(), "tls.crt": shown.PEM, "tls.key": shown.KeyPEM}
		c := trigger(s.address, autoscalingv2.AverageValueMetricType)
		c.AuthParams = map[string]string{}
		for _, ref := range authentication.Spec.SecretTargetRef {
			require.Contains(t, files, ref.Key)
			c.AuthParams[ref.Parameter] = string(files[ref.Key])
		}
		return c
	}
	asked := func(c *scalersconfig.ScalerConfig) (int64, error) {
		client, err := scalers.NewExternalScaler(c)
		require.NoError(t, err)
		defer func() { _ = client.Close(context.Background()) }()
		replicas, active, err := ask(t, client)
		require.Equal(t, err == nil, active)
		return replicas, err
	}
	replicas, err := asked(config(authority, "keda-operator"))
	require.NoError(t, err)
	require.EqualValues(t, 5, replicas)
	push, err := scalers.NewExternalPushScaler(config(authority, "keda-operator"))
	require.NoError(t, err)
	defer func() { _ = push.Close(context.Background()) }()
	ctx, cancel := context.WithCancel(t.Context())
	pushed := make(chan bool)
	go push.Run(ctx, pushed)
	select {
	case active := <-pushed:
		require.True(t, active)
	case <-time.After(patience):
		t.Fatal("nothing was pushed")
	}
	cancel()
	for range pushed {
		t.Error("pushed twice")
	}

	other, nobody := config(authority, "keda-operator"), config(authority, "keda-operator")
	other.ScalableObjectNamespace = "another"
	delete(nobody.AuthParams, "tlsClientCert")
	delete(nobody.AuthParams, "tlsClientKey")
	for code, c := range map[codes.Code][]*scalersconfig.ScalerConfig{
		codes.PermissionDenied: {other, config(authority, "somebody")},
		codes.Unauthenticated:  {nobody},
		codes.Unavailable:      {config(accesstest.New(t, "CA"), "keda-operator"), trigger(s.address, autoscalingv2.AverageValueMetricType)},
	} {
		for _, c := range c {
			_, err := asked(c)
			require.Equal(t, code, status.Code(err), "%v", err)
		}
	}
}

// The ScaledObject in the documentation is one, and what it asks is answered.
func TestDocumentedScaledObject(t *testing.T) {
	var object kedav1alpha1.ScaledObject
	documented(t, "ScaledObject", &object)
	require.Len(t, object.Spec.Triggers, 1)
	require.NotZero(t, object.Spec.Fallback.Replicas, "0 would let KEDA scale to zero on errors")

	s := start(t, "127.0.0.1:0")
	s.decide(t, `{"replicas": 2, "to": 5}`)
	config := trigger(s.address, autoscalingv2.AverageValueMetricType)
	config.ScalableObjectNamespace, config.TriggerMetadata = object.Namespace, object.Spec.Triggers[0].Metadata
	config.TriggerMetadata["scalerAddress"] = s.address
	client, err := scalers.NewExternalScaler(config)
	require.NoError(t, err)
	defer func() { _ = client.Close(context.Background()) }()
	replicas, active, err := ask(t, client)
	require.NoError(t, err)
	require.True(t, active)
	require.EqualValues(t, 5, replicas)
}

// TestIncident28: a dead external scaler took the other triggers of a ScaledObject with it.
// Whether they live on is up to KEDA; what is up to us is that the metric has the same
// name always, before the first decision too, and that KEDA is told that nothing is known
// and not a number, so that its fallback counts.
func TestIncident28DeadScaler(t *testing.T) {
	s, sibling := start(t, "127.0.0.1:0"), start(t, "127.0.0.1:0")
	sibling.decide(t, `{"replicas": 2, "to": 4}`)
	ours, siblings := pull(t, s.address), pull(t, sibling.address)
	spec := ours.GetMetricSpecForScaling(t.Context())
	require.Len(t, spec, 1, "before the first decision")

	unknown := func(why string) {
		t.Helper()
		_, active, err := ask(t, ours)
		require.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", why, err)
		require.False(t, active)
		replicas, active, err := ask(t, siblings)
		require.NoError(t, err, why)
		require.True(t, active)
		require.EqualValues(t, 4, replicas)
	}
	unknown("before the first decision")
	s.decide(t, `{"replicas": 2, "to": 5}`)
	replicas, _, err := ask(t, ours)
	require.NoError(t, err)
	require.EqualValues(t, 5, replicas)
	s.decide(t, `{"replicas": 2, "to": 5, "age": 3600}`)
	unknown("the loop stands still")
	require.Equal(t, spec, ours.GetMetricSpecForScaling(t.Context()))
	s.kill()
	unknown("the process is gone")

	again := start(t, s.address)
	again.decide(t, `{"replicas": 2, "to": 6}`)
	require.Eventually(t, func() bool {
		replicas, active, err := ask(t, ours)
		return err == nil && active && replicas == 6
	}, patience, 50*time.Millisecond, "it comes back without KEDA being told")
	require.Equal(t, spec, ours.GetMetricSpecForScaling(t.Context()))
}

// The protocol is KEDA's, byte for byte.
func TestProtocolIsKEDAs(t *testing.T) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/kedacore/keda/v2").Output()
	require.NoError(t, err)
	theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "pkg", "scalers", "externalscaler", "externalscaler.proto"))
	require.NoError(t, err)
	ours, err := os.ReadFile(filepath.Join("..", "..", "third_party", "keda", "externalscaler", "externalscaler.proto"))
	require.NoError(t, err)
	require.Equal(t, string(theirs), string(ours))
}
