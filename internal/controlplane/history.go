//go:build linux

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// ForgetHistory has etcd forget all but the present, as it does every five minutes in a real
// cluster. Whoever then wants to watch from where it was, after the API server was away, is
// told that this is gone, and must list anew.
func (c *ControlPlane) ForgetHistory(ctx context.Context) error {
	var now struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := c.askEtcd(ctx, "/v3/kv/range", map[string]any{"key": "AA=="}, &now); err != nil {
		return err
	}
	return c.askEtcd(ctx, "/v3/kv/compaction", map[string]any{"revision": now.Header.Revision, "physical": true}, &struct{}{})
}

func (c *ControlPlane) askEtcd(ctx context.Context, path string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("controlplane: etcd: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.etcdURL+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("controlplane: etcd: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("controlplane: etcd: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("controlplane: etcd: %s answers %s", path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("controlplane: etcd: %w", err)
	}
	return nil
}
