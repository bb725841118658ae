# The targets that people use each day; `make help` lists all. bench/bench.mk has the measurements, and test/verify.mk what
# .ci/verify and nightly run.

GO ?= go
# Where `make run` listens; port 0 takes a free one.
BIND ?= 127.0.0.1:8080
DATA := data
GRAPH := $(DATA)/code
FUZZTIME ?= 60s

.DEFAULT_GOAL := help

include test/verify.mk bench/bench.mk

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# The second command keeps the branch work/<folder> in step with the code. It needs the server's port and token.
run: build applied $(GRAPH).loaded ## generate, build, index this repository, load it, serve it
	@case '$(BIND)' in *:0) exec bin/omnigraph-server --cluster . --bind $(BIND) --dev;; esac; \
	bin/omnigraph-server --cluster . --bind $(BIND) --dev & server=$$!; \
	( until [ -s $(DATA)/dev-token ]; do sleep 1; done; OMNIGRAPH_TOKEN=$$(cat $(DATA)/dev-token) exec bin/omnigraph index go ./... --watch \
		--server http://$(BIND) --graph code >$(DATA)/watch.log 2>&1 ) & watch=$$!; \
	trap 'kill $$server $$watch 2>/dev/null' INT TERM; \
	wait $$server; code=$$?; if kill -0 $$server 2>/dev/null; then wait $$server; code=$$?; fi; \
	kill $$watch 2>/dev/null; exit $$code

reindex: build ## read this repository's code again (stop the server first)
	@rm -f $(GRAPH).loaded
	@$(MAKE) --no-print-directory $(GRAPH).loaded

applied: build
	@bin/omnigraph cluster apply --format table

# The stamp stands for "indexed and loaded"; the graph itself is kept between runs.
$(GRAPH).loaded: | applied
	@bin/omnigraph index go ./... --out $(GRAPH).ndjson
	@bin/omnigraph load --store $(GRAPH) --data $(GRAPH).ndjson --mode overwrite
	@bin/omnigraph load --store $(GRAPH) --data $(GRAPH).ndjson --mode sync --source omnigraph-index --format json >/dev/null
	@touch $@

generate: ## write the generated packages from queries/
	$(GO) generate ./...

build: generate ## build the three commands into bin/
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

# The two packages that take longest come first, so that they do not run alone at the end. The first waits for
# servers most of the time, so three packages run at once on two processors.
test: ## regenerate and fail on a difference, then run every test
	$(GO) run ./cmd/gq generate --check
	$(GO) vet ./...
	$(GO) test -shuffle=on -p 3 -timeout 30m ./test/e2e ./engine/embedded ./...

# The build tag faults compiles the faults of the engine in, see engine/embedded/internal/fault.
test-random: ## compare random statements with the model for a minute, and find every third fault that is put into the engine
	$(GO) test ./engine/embedded -run '^TestRandom' -v -timeout 20m -enginetest.duration=1m
	$(GO) test -tags faults ./engine/embedded -run '^TestFaultsAreFound$$' -v -timeout 40m

# STORAGE_FLAGS= may be '-timeout 0 -enginetest.duration=0 -enginetest.cases=100000'.
test-storage: ## run the suite of the engine, and compare random statements, on each kind of shared storage that is installed
	$(GO) test ./engine/embedded -run '^Test(SharedStorage|RandomStorage)$$' -v -storages -timeout 40m $(STORAGE_FLAGS)

# The packages that start goroutines or hold locks. The detector slows tests down five to
# ten times and needs a C compiler. Slow tests that start no goroutines of their own call slow.Test; RACE_FLAGS= runs
# them with the detector too.
RACE_PACKAGES := ./engine/... ./internal/audittrail ./server/... ./client ./internal/server/... ./internal/storage/fs ./internal/gq/work ./internal/bench/contention ./internal/parquet ./internal/storage/object/... ./internal/storage/sharedlog/... ./internal/replica
RACE_FLAGS ?= -short -timeout 30m
test-race: ## run the tests of concurrent code with the race detector
	@cc=$$($(GO) env CC); \
	if command -v "$${cc%% *}" >/dev/null 2>&1; then \
		echo "$(GO) test -race $(RACE_FLAGS) -shuffle=on $(RACE_PACKAGES)"; \
		CGO_ENABLED=1 $(GO) test -race $(RACE_FLAGS) -shuffle=on $(RACE_PACKAGES); \
	else \
		echo "no C compiler ($$cc): nothing runs with the race detector"; \
	fi

# Some tests heed -short. The tests of built commands are left out.
test-short: ## run the tests of an edit within two minutes: no race detector, no built commands, no long comparison
	$(GO) test -short $$($(GO) list ./... | grep -vx 'github.com/omnigraph-go/omnigraph/test/.*')

test-init: ## run what gq init prints, and the quickstart, up to calls over MCP (needs curl)
	OMNIGRAPH_TEST_INIT=1 $(GO) test ./cmd/gq -run '^Test(InitLeadsToAServer|SecondGraph|InitOfARelease|OwnDomain|Quickstart)$$' -count=1 -v -timeout 30m

# The builder of releases is a module of its own, so that its many dependencies stay out of this one.
# VERSION is the version to build. SOURCE_DATE_EPOCH sets the time of all files.
release: ## build every artifact of VERSION=v0.1.0 into dist/
	cd release && $(GO) run . build -version '$(VERSION)' -commit "$$(git rev-parse HEAD 2>/dev/null)" -out ../dist

# BUILDER is the URI of what built dist/, and INVOCATION that of the run. KEY names a private key as PEM; without it, the GitHub
# workflow that runs this signs with its identity.
sign: ## sign what make release wrote into dist/: its sums and its provenance, for VERSION, BUILDER, INVOCATION and KEY
	cd release && $(GO) run . sign -version '$(VERSION)' -commit "$$(git rev-parse HEAD 2>/dev/null)" -dist ../dist \
		-builder '$(BUILDER)' -invocation '$(INVOCATION)' -key '$(if $(KEY),$(abspath $(KEY)))'

verify-release: bin/cosign ## check dist/ as a user does: its sums, and that the workflow BUILDER signed them
	bin/cosign verify-blob --bundle dist/checksums.txt.sigstore.json --certificate-identity '$(BUILDER)' \
		--certificate-oidc-issuer https://token.actions.githubusercontent.com dist/checksums.txt
	cd dist && sha256sum --quiet --check checksums.txt

# The studio is built by a Go module of its own, so that esbuild stays out of this one. Only these
# targets need npm and the network: dist is committed.
studio/node_modules: studio/package.json studio/package-lock.json
	npm ci --prefix studio --silent --no-audit --no-fund
	@touch $@

studio: studio/node_modules ## check the types of the studio and build its dist from its src (needs npm)
	cd studio && npx --no-install tsc
	cd studio/build && $(GO) run .

studio-check: studio/node_modules ## check that the studio in the repository is what its source builds (needs npm)
	cd studio && npx --no-install tsc
	cd studio/build && $(GO) vet . && $(GO) run . --check

# The site has no copies of the guides, and needs the network only for npm ci. VERSION names its folder in bin/site; BASE is the
# path under which a web server serves bin/site.
site/node_modules: site/package.json site/package-lock.json
	npm ci --prefix site --silent --no-audit --no-fund
	@touch $@

site: site/node_modules ## build the site of the documentation in bin/site/next, or in bin/site/$(VERSION) (needs npm)
	cd site && VERSION='$(VERSION)' BASE='$(BASE)' npx --no-install vitepress build

verify: ## run what .ci/run leaves out, with reduced counts: every client, browser, storage and release that is installed
	.ci/verify

# Every test runs at each date in each time zone, and all tests of concurrent code run with
# the race detector; then what .ci/run and .ci/verify do in short form runs
# at full length, with cases that differ from night to night.
NIGHTLY_SHIFTS := 2d 365d 3653d leapday
NIGHTLY_ZONES := Pacific/Kiritimati America/St_Johns
nightly: ## run every test days and years ahead in two time zones, then fuzz, soak and compare at full length
	@for shift in $(NIGHTLY_SHIFTS); do for zone in $(NIGHTLY_ZONES); do \
		$(MAKE) --no-print-directory test-clock SHIFT=$$shift ZONE=$$zone || exit 1; \
	done; done
	$(MAKE) test-race RACE_FLAGS='-timeout 120m'
	$(GO) test ./engine/embedded -run '^Test(DiskFaults|Crash|FlippedByte|SharedPowerCut|SharedLostReplies|Memory|ApproximateRecall)$$' -embedded.long -timeout 60m
	$(MAKE) fuzz
	$(MAKE) fuzz-engine
	$(GO) test -tags faults ./engine/embedded -run '^TestFaultsAreFound$$' -v -args -embedded.long
	$(MAKE) test-gopls
	$(GO) test ./engine/enginetest -run '^Test(SuiteFindsSeededFaults|SeededFaultsAreFound)$$' -enginetest.faults -timeout 0
	$(MAKE) simulate
	$(MAKE) test-storage STORAGE_FLAGS='-timeout 0 -enginetest.duration=0 -enginetest.cases=100000'
	$(MAKE) test-s3
	$(MAKE) test-azure
	$(MAKE) test-manifests
	@if command -v "$$($(GO) env CC)" >/dev/null 2>&1; then $(MAKE) test-peers; \
	else echo "no C compiler: the comparison with other databases is left out"; fi
	$(MAKE) test-shared
	$(MAKE) test-online
	$(MAKE) test-release RELEASE_FLAGS='-args -cold -emulate'
	$(MAKE) vet-platforms
	$(MAKE) test-feed
	$(MAKE) test-follow
	$(MAKE) test-body BODY=2000
	$(MAKE) soak
	@if python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then $(MAKE) test-openapi; \
	else echo "no python3 with venv: the fuzzer of the OpenAPI document is left out"; fi

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
lint: ## vet, staticcheck, formatting, stale generated code
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "gofmt -w these:"; echo "$$files"; exit 1; }
	$(GO) run ./cmd/gq fmt -l queries
	$(GO) run ./cmd/gq lint --max-warnings 0
	$(GO) run ./cmd/gq generate --check

# Each command and test with many dependencies is a module of its own. Those below testdata belong to tests, and s3gateway has no code.
vet-modules: ## vet every other module of the repository, and run staticcheck on it (needs the network)
	@for m in $$(git ls-files '*/go.mod' | grep -vE '/testdata/|s3gateway'); do \
		d=$$(dirname $$m); echo "$$d"; \
		(cd $$d && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...) || exit 1; \
	done

eval: ## measure how well a model can use the tools of this repository's graph and of gq init
	$(GO) run ./cmd/gq eval --check
	$(GO) test ./cmd/gq -run '^TestEval$$' -count=1

docs: ## print the references, docs/reference, and the types of the clients in other languages from the code
	$(GO) run ./cmd/gq docs
	$(GO) run ./cmd/omnigraph docs > docs/reference/commands.md
	$(GO) run ./cmd/omnigraph-server docs > docs/reference/omnigraph-server.md
	$(GO) test ./internal/settings -run '^TestReferences$$' -count=1 -update
	$(GO) test ./internal/server/observe -run '^TestMetricsPage$$' -count=1 -update
	$(GO) test ./internal/server/builtin -run '^TestPage$$' -count=1 -update
	$(GO) test ./internal/server/rest -run '^Test(Document|Reference)$$' -count=1 -update
	$(GO) test ./client/internal/wiretypes -count=1 -update

golden: ## rewrite the golden files of the tests
	$(GO) test $$(grep -rl --include='*_test.go' 'internal/golden"' . | xargs -n1 dirname | sort -u) -update

clean: ## remove what was built; the data stays
	rm -rf bin

# No target is a file, except those with a slash.
.PHONY: $(shell sed -nE 's/^([a-z0-9-]+):.*/\1/p' $(MAKEFILE_LIST))
