#!/usr/bin/env bash
# Checks and tests the rules for Prometheus by promtool, which comes with Debian's prometheus.
set -euo pipefail

if ! command -v promtool > /dev/null; then
  echo 'promtool is not installed: the check of deploy/prometheus is left out'
  exit 0
fi
promtool check rules deploy/prometheus/rules.yaml
promtool test rules deploy/prometheus/rules_test.yaml
