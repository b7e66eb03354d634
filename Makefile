# Everything that is done to this repository. `make` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

MODULES := . benchmarks test/controlplane test/keda test/web tools tools/lint tools/load tools/packaging
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
FUZZTIME ?= 10s

# The same tree gives the same binary, wherever it is built.
BUILDFLAGS := -trimpath -buildvcs=false \
	-ldflags='-s -w -X github.com/poolwright/poolwright/internal/app.version=$(VERSION)'

# With Clp where pkg-config finds it, in pure Go elsewhere. Asked in the recipes,
# because setup may have installed it since make started.
HAVE_CLP := pkg-config --exists clp 2>/dev/null

# The race detector needs cgo. It waits a second before each process ends, in case a
# goroutine is still at it; the tests of the command start hundreds of processes.
RACE := CGO_ENABLED=1 GORACE=atexit_sleep_ms=0

# Tools are built once into the user's cache, under a name that changes with their
# versions and with Go's.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/poolwright
key = $(shell { go version; cat $(1)/go.mod $(1)/go.sum; } | sha256sum | cut -c1-16)
TOOLS := $(CACHE)/tools-$(call key,tools)
LINT := $(CACHE)/lint-$(call key,tools/lint)
PACKAGING := $(CACHE)/packaging-$(call key,tools/packaging)
LOAD := $(CACHE)/load-$(call key,tools/load)
CONTROLPLANE := $(CACHE)/controlplane-$(call key,test/controlplane)
export PATH := $(TOOLS):$(LINT):$(PACKAGING):$(LOAD):$(PATH)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install COIN-OR Clp where that is possible
	@tools/setup.sh

.PHONY: setup-peers
setup-peers: ## install CBC, GLPK and lp_solve, for comparison, where that is possible
	@tools/setup-peers.sh

.PHONY: setup-prometheus
setup-prometheus: ## install Prometheus, for the tests of metrics, where that is possible
	@tools/setup-prometheus.sh

.PHONY: setup-chromium
setup-chromium: ## install Chromium, for the tests of pages, where that is possible
	@tools/setup-chromium.sh

# Where the program is built.
BIN ?= bin/

.PHONY: build
build: ## build bin/poolwright, with Clp where it is installed
	@if $(HAVE_CLP); then \
	  set -x; CGO_ENABLED=1 go build $(BUILDFLAGS) -tags clp -o $(BIN) ./cmd/poolwright; \
	else \
	  set -x; CGO_ENABLED=0 go build $(BUILDFLAGS) -o $(BIN) ./cmd/poolwright; \
	fi

.PHONY: run
run: setup build ## plan a built-in fleet and keep planning it; ARGS="--help" lists options
	@exec bin/poolwright serve $(ARGS)

.PHONY: test
test: setup ## run every check and every test
	@tools/steps.sh format lint verify breaking test-builds test-unit test-rules test-packaging test-web test-peers bench-quick soak-quick first-run test-fuzz

.PHONY: format
format: $(TOOLS)/.done ## check the format of Go and .proto files
	@bad=$$(git ls-files -co --exclude-standard '*.go' | grep -v '\.pb\.\(gw\.\)\?go$$' | xargs gofumpt -l); \
	if [[ -n $$bad ]]; then echo "not formatted, run 'make format-fix':"; echo "$$bad"; exit 1; fi
	buf format --diff --exit-code proto

.PHONY: format-fix
format-fix: $(TOOLS)/.done ## format Go and .proto files
	git ls-files -co --exclude-standard '*.go' | grep -v '\.pb\.\(gw\.\)\?go$$' | xargs gofumpt -w
	buf format --write proto

# Packages that are other ones with Clp.
CLP_PACKAGES = $(addprefix ./,$(sort $(dir $(shell git grep -lE --untracked '^//go:build.*clp' -- '*.go'))))

.PHONY: lint
lint: $(TOOLS)/.done $(LINT)/.done ## run go vet, golangci-lint and buf lint
	buf lint
	CGO_ENABLED=0 go vet -tags e2e,packaging ./...
	go -C tools vet ./...
	tools/keda.sh vet ./...
	CGO_ENABLED=0 go -C test/web vet -tags axe ./...
	CGO_ENABLED=0 go -C benchmarks vet -tags peers ./...
	CGO_ENABLED=0 golangci-lint run --build-tags e2e,packaging ./...
	cd benchmarks && CGO_ENABLED=0 golangci-lint run --build-tags peers ./...
	@if $(HAVE_CLP); then \
	  set -x; CGO_ENABLED=1 go vet -tags clp $(CLP_PACKAGES); \
	  CGO_ENABLED=1 golangci-lint run --build-tags clp $(CLP_PACKAGES); \
	fi

.PHONY: generate
generate: $(TOOLS)/.done ## generate Go, gateway and OpenAPI from proto/
	go -C tools run ./validateproto > third_party/protovalidate/buf/validate/validate.proto
	buf generate
	buf generate --template buf.gen.keda.yaml

.PHONY: verify
verify: $(TOOLS)/.done ## check that generated files and go.mod files are up to date
	tools/verify.sh
	@for m in $(MODULES); do (set -x; go -C $$m mod tidy -diff); done

.PHONY: docs
docs: ## write anew what pages show of code, commands and charts
	CGO_ENABLED=0 go test -count 1 -run Documented ./config ./sources/overlay ./internal/message ./internal/protodoc -args -write
	UPDATE_SCRIPTS=1 CGO_ENABLED=0 go test -count 1 -run 'CommandLineReference|FollowedPages|Charts' ./cmd/poolwright ./internal/handbook

.PHONY: breaking
breaking: $(TOOLS)/.done ## check the API against the last release
	tools/breaking.sh

.PHONY: test-builds
test-builds: ## check that both builds work and do not depend on where they are built
	tools/builds.sh "$(VERSION)"

# Races are looked for in less: what pages and scripts tell people to type is run without, and long searches for proofs.
LESS := -short -skip '^TestDocumented|^TestFollowedPages|FitTheirColumns|^TestScripts/repeat|Prove|EndAtTheOptimum|DoesNotWaitForPriorities'

.PHONY: test-unit
test-unit: setup-prometheus ## run the tests of both builds and of the benchmarks, and look for races
	CGO_ENABLED=0 go test ./...
	@if $(HAVE_CLP); then \
	  set -x; $(RACE) go test -race -timeout 20m $(LESS) -tags clp $$(tools/racing.sh -tags clp); \
	  CGO_ENABLED=1 go test -tags clp ./optimizer/...; \
	else \
	  echo 'Clp is not installed: testing the pure Go build only'; \
	  set -x; $(RACE) go test -race -timeout 20m $(LESS) $$(tools/racing.sh); \
	fi
	CGO_ENABLED=0 go -C benchmarks test -p 1 ./...
	tools/keda.sh test .

.PHONY: test-rules
test-rules: setup-prometheus ## check and test the alerts by promtool, where it is installed
	@tools/rules.sh

.PHONY: test-packaging
test-packaging: build $(PACKAGING)/.done ## check the chart, the kustomization, the Dockerfile and what make dist makes
	CGO_ENABLED=0 go test -tags packaging -count 1 -timeout 30m ./test/packaging

# What the tests of pages have seen.
export POOLWRIGHT_SCREENSHOTS ?= $(CURDIR)/out/screenshots

.PHONY: test-web
test-web: build setup-chromium ## test the pages in Chromium, where it is installed; leaves pictures in out/screenshots
	@if ! command -v chromium > /dev/null; then \
	  echo 'Chromium is not installed: the tests of pages are left out'; \
	elif axe=$$(tools/axe.sh '$(CACHE)') && [[ -n $$axe ]]; then \
	  set -x; POOLWRIGHT_AXE=$$axe CGO_ENABLED=0 go -C test/web test -count 1 -tags axe ./...; \
	else \
	  echo 'axe-core cannot be fetched: pages are not tested with it'; \
	  set -x; CGO_ENABLED=0 go -C test/web test -count 1 ./...; \
	fi

# 200 take about two minutes of one core.
INSTANCES ?= 100

.PHONY: test-peers
test-peers: setup-peers ## compare the optimizer's proofs with CBC's on INSTANCES (100) problems, where CBC is installed
	@if command -v cbc > /dev/null; then \
	  set -x; CGO_ENABLED=0 go -C benchmarks test -count 1 -tags peers ./solver/internal/oracle -instances $(INSTANCES); \
	else \
	  echo 'CBC is not installed: its comparison is left out'; \
	fi

.PHONY: soak
soak: build ## keep a process busy for half an hour, then let too much come (40 min); fails when a target is missed; writes docs/soak.md
	CGO_ENABLED=0 go -C benchmarks run ./soak -docs ../docs $(ARGS)

.PHONY: soak-quick
soak-quick: build ## the same in two minutes, without targets for times
	CGO_ENABLED=0 go -C benchmarks run ./soak -quick $(ARGS)

.PHONY: replay-week
replay-week: ## decide for a simulated week every 15 s, and replay the ledger (1 min)
	CGO_ENABLED=0 go test -count 1 -run TestWeekIsReproduced ./controller/ledger -step 15s

.PHONY: first-run
first-run: build $(TOOLS)/.done ## check what the README promises of the first run: curl, grpcurl, command line
	tools/first-run.sh bin/poolwright

.PHONY: test-fuzz
test-fuzz: ## fuzz each parser for FUZZTIME (10s)
	tools/fuzz.sh parsers $(FUZZTIME)

.PHONY: fuzz
fuzz: ## fuzz everything for FUZZTIME (10m) each
fuzz: FUZZTIME := $(if $(filter file,$(origin FUZZTIME)),10m,$(FUZZTIME))
fuzz:
	tools/fuzz.sh all $(FUZZTIME)

# With two cores, about 8 minutes.
HOSTILE ?= 1000000

.PHONY: hostile
hostile: ## attack the program with HOSTILE (1000000) malformed and hostile requests
	CGO_ENABLED=0 go test -count 1 -v -timeout 2h -run TestHostileRequests ./cmd/poolwright -hostile $(HOSTILE)

.PHONY: vulnerabilities
vulnerabilities: ## look for known vulnerabilities in what is built, where their database can be reached
	@tools/vulnerabilities.sh

# Given fleets and third-party measurements, if there are any, are read from folders beside
# the repository.
PROBLEMS ?= ../shared/problems
DATA ?= ../shared/data
SUITE = CGO_ENABLED=0 go -C benchmarks run ./suite -data "$(abspath $(DATA))" -problems "$(abspath $(PROBLEMS))"

.PHONY: bench
bench: setup-peers $(LOAD)/.done ## run all benchmarks against peers (2 h); writes docs/benchmarks.md; ARGS="-only queueing" runs a part, ARGS=-resume what is left
	$(SUITE) -docs ../docs $(ARGS)

.PHONY: bench-quick
bench-quick: $(LOAD)/.done ## measure shortly, and fail where a ratio is far below that of benchmarks/suite/ratios.json (2 min)
	$(SUITE) -quick -out ../out/bench-quick $(ARGS)

.PHONY: bench-go
bench-go: ## run the benchmarks of single functions
	@tags=$$($(HAVE_CLP) && echo clp || true); \
	set -x; go test -tags "$$tags" -run '^$$' -bench . -benchmem ./...; \
	go -C benchmarks test -p 1 -run '^$$' -bench . -benchmem ./...

.PHONY: bench-solver
bench-solver: setup-peers ## measure the optimizer, also beside CBC, GLPK and lp_solve (25 min); writes docs/solver-benchmarks.md
	CGO_ENABLED=0 go -C benchmarks run ./solver -problems "$(abspath $(PROBLEMS))" -docs ../docs $(ARGS)

.PHONY: accuracy
accuracy: ## measure the model's accuracy; fails when a target is missed; writes docs/accuracy.md where DATA (../shared/data) exists
	go -C benchmarks run ./accuracy -data "$(abspath $(DATA))" -docs ../docs

.PHONY: bench-sim
bench-sim: ## measure the speed of simulations; fails when a target is missed
	CGO_ENABLED=0 go -C benchmarks run ./simulation

.PHONY: bench-forecast
bench-forecast: ## measure predictions of demand; fails when a target is missed; writes docs/forecast-accuracy.md where DATA (../shared/data) exists
	go -C benchmarks run ./forecast -data "$(abspath $(DATA))" -docs ../docs

.PHONY: compare-policies
compare-policies: ## compare the loop with other autoscalers on days of traffic (1 h); fails when a target is missed; writes docs/policy-comparison.md where DATA (../shared/data) exists
	CGO_ENABLED=0 go -C benchmarks run ./policies -data "$(abspath $(DATA))" -docs ../docs $(ARGS)

.PHONY: bench-hindsight
bench-hindsight: ## compute bounds in hindsight on arrivals of DATA (../shared/data); fails when one is not that of the data
	go -C benchmarks run ./hindsight -data "$(abspath $(DATA))"

# Packages with tests that need a control plane. Their processes want the machine for
# themselves.
E2E_PACKAGES = $(sort $(dir $(shell git grep -l --untracked '^//go:build e2e' -- '*_test.go')))

.PHONY: e2e
e2e: build controlplane $(PACKAGING)/.done ## run the tests that need a Kubernetes control plane
	CGO_ENABLED=0 go test -tags e2e -count 1 -p 1 -parallel 3 -timeout 30m $(addprefix ./,$(E2E_PACKAGES))

.PHONY: e2e-scale
e2e-scale: build controlplane ## measure cycles over 2,000 workloads on a control plane (10 min)
	CGO_ENABLED=0 go test -tags e2e -count 1 -v -timeout 30m ./test/scale -workloads 2000

.PHONY: e2e-long
e2e-long: build controlplane ## run the program's own of these tests with the cycles of a real cluster (1 h)
	CGO_ENABLED=0 go test -tags e2e -count 1 -timeout 3h ./test/e2e -long

.PHONY: e2e-kill
e2e-kill: build controlplane ## kill the leader 100 times while it scales (half an hour); KILLS=n for another number
	CGO_ENABLED=0 go test -tags e2e -count 1 -timeout 2h -v -run '^TestKills$$' ./test/e2e -kills $(or $(KILLS),100)

.PHONY: controlplane
controlplane: setup-prometheus $(CONTROLPLANE)/.done ## build the programs of a Kubernetes control plane, for tests (10 min, then kept)

.PHONY: controlplane-folder
controlplane-folder:
	@echo $(CONTROLPLANE)

.PHONY: dist
dist: $(PACKAGING)/.done ## make the archives of a release, for linux on amd64 and arm64, and the chart in dist/
	tools/dist.sh "$(VERSION)" dist

IMAGE ?= poolwright:latest
TARGET ?= static

.PHONY: image
image: ## build an image named IMAGE, by docker; TARGET=clp is the one with Clp
	docker build --file deploy/Dockerfile --target $(TARGET) --build-arg VERSION="$(VERSION)" --tag $(IMAGE) .

.PHONY: clean
clean: ## remove what was built here
	rm -rf bin dist out

$(TOOLS)/.done:
	mkdir -p $(@D)
	CGO_ENABLED=0 go -C tools build -trimpath -buildvcs=false -ldflags='-s -w' -o $(@D)/ tool
	touch $@

$(LINT)/.done:
	mkdir -p $(@D)
	CGO_ENABLED=0 go -C tools/lint build -trimpath -buildvcs=false -ldflags='-s -w' -o $(@D)/ tool
	touch $@

# kubectl and the servers say their version where this is set; some clients ask for it.
KUBERNETES = $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2 }' test/controlplane/go.mod)
KUBERNETES_MAJOR = $(word 1,$(subst ., ,$(KUBERNETES:v%=%)))
KUBERNETES_MINOR = $(word 2,$(subst ., ,$(KUBERNETES)))
KUBERNETES_FLAGS = -s -w \
	-X k8s.io/component-base/version.gitVersion=$(KUBERNETES) \
	-X k8s.io/component-base/version.gitMajor=$(KUBERNETES_MAJOR) \
	-X k8s.io/component-base/version.gitMinor=$(KUBERNETES_MINOR)

$(CONTROLPLANE)/.done:
	mkdir -p $(@D)
	CGO_ENABLED=0 go -C test/controlplane build -trimpath -buildvcs=false -ldflags='-s -w' -o $(@D)/etcd go.etcd.io/etcd/server/v3
	CGO_ENABLED=0 go -C test/controlplane build -trimpath -buildvcs=false -ldflags='$(KUBERNETES_FLAGS)' -o $(@D)/ \
	  k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubectl} sigs.k8s.io/kwok/cmd/kwok
	touch $@

# helm says its version, and renders for that Kubernetes where it does not ask one.
HELM_FLAGS = -s -w \
	-X helm.sh/helm/v3/internal/version.version=$(shell awk '$$1 == "helm.sh/helm/v3" { print $$2 }' tools/packaging/go.mod) \
	-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=$(KUBERNETES_MAJOR) -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$(KUBERNETES_MINOR) \
	-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=$(KUBERNETES_MAJOR) -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=$(KUBERNETES_MINOR)

$(LOAD)/.done:
	mkdir -p $(@D)
	CGO_ENABLED=0 go -C tools/load build -trimpath -buildvcs=false -ldflags='-s -w' -o $(@D)/ tool
	touch $@

$(PACKAGING)/.done:
	mkdir -p $(@D)
	CGO_ENABLED=0 go -C tools/packaging build -trimpath -buildvcs=false -ldflags='$(HELM_FLAGS)' -o $(@D)/ tool
	touch $@
