//go:build linux

package controlplane

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/common/model"
)

// object is a part of a configuration file.
type object = map[string]any

// writePrometheus writes Prometheus's configuration, as JSON, which is YAML.
func (c *Config) writePrometheus(file, targets string) error {
	interval := duration(cmp.Or(c.ScrapeInterval, defaultScrapeInterval))
	configuration := object{
		"global":     object{"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
		"rule_files": c.RuleFiles,
		"scrape_configs": []object{{
			"job_name":        "engines",
			"http_sd_configs": []object{{"url": "http://" + targets + "/targets", "refresh_interval": "1s"}},
		}},
	}
	text, err := json.Marshal(configuration)
	if err != nil {
		return fmt.Errorf("controlplane: prometheus: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	return nil
}

func duration(d time.Duration) string { return model.Duration(d).String() }
