# The targets of .ci/verify and nightly.

# SHIFT is how far ahead the clock of the tests and of the commands that they build is: a
# number of days such as 2d, a duration such as 48h, or leapday for the next 29 February.
# ZONE is their time zone; the tag timetzdata compiles its data in. CLOCK_FLAGS go to go
# test. -count=1, since go test would take the answer of one shift for that of another.
SHIFT ?= 3653d
ZONE ?= America/St_Johns
CLOCK_PACKAGES ?= ./...
CLOCK_FLAGS ?=
test-clock: ## run the tests of CLOCK_PACKAGES at another date: SHIFT=3653d or leapday, ZONE=Pacific/Kiritimati
	@by="$(SHIFT)"; if [ "$$by" = leapday ]; then by=$$($(GO) run ./internal/clock/leapday) || exit 1; fi; \
	flags="$$($(GO) env GOFLAGS) -tags=shiftedclock,timetzdata"; \
	echo "TZ=$(ZONE) OMNIGRAPH_CLOCK_SHIFT=$$by GOFLAGS=$$flags $(GO) test -count=1 -timeout 30m $(CLOCK_FLAGS) $(CLOCK_PACKAGES)"; \
	TZ="$(ZONE)" OMNIGRAPH_CLOCK_SHIFT="$$by" GOFLAGS="$$flags" $(GO) test -count=1 -timeout 30m $(CLOCK_FLAGS) $(CLOCK_PACKAGES)

# What test-clock-short skips takes long and has no date, expiry or time limit. No package of internal/gq reads the
# clock. TestIssuer drives commands that the test builds.
CLOCK_SKIPS := TestRandom|TestContention|TestConcurrent|TestConformance|TestApproximate|TestHubs
test-clock-short: ## run the tests with dates, expiries and time limits ten years ahead
	@$(MAKE) --no-print-directory test-clock ZONE=Pacific/Kiritimati CLOCK_FLAGS="-short -skip '$(CLOCK_SKIPS)'" \
		CLOCK_PACKAGES="$$($(GO) list ./internal/... | grep -v /internal/gq/ | tr '\n' ' ') ./generated/... ./server/... ./engine/embedded"
	@$(MAKE) --no-print-directory test-clock ZONE=Pacific/Kiritimati CLOCK_FLAGS="-run '^TestIssuer'" CLOCK_PACKAGES=./test/e2e

test-embed: ## embed 100,000 rows with a provider that fails, limits, stalls and refuses, and stop the command meanwhile
	$(GO) test ./cmd/omnigraph -count=1 -v -timeout 20m -run '^TestEmbed$$' -args -embed.rows=100000

test-operators: ## run the tests of the operators with each fault in them, and print how many they find
	$(GO) test -tags faults ./engine/embedded/internal/exec -count=1 -v -timeout 30m -run '^TestOperatorsFindFaults$$'

# Ten thousand connections take as many files in the server and in the test: see ulimit -n.
test-hostile: ## hold 10,000 idle connections against the built server, and bodies that do not end
	$(GO) test ./test/e2e -count=1 -v -run '^Test(IdleConnections|SlowBodies)$$' -args -connections=10000 -slow

# The long form of the test on each storage whose server can be killed. PostgreSQL must be installed.
FAILURES := -shared.clients=16 -shared.kills=20 -shared.stops=10 -shared.outages=5 -shared.lease=5s -shared.pause=1.5 -shared.restarts=3
test-shared: bin/versitygw ## run 16 clients against three built servers on versitygw and on PostgreSQL; kill, stop and restart the writer, and kill the storage
	$(GO) test ./test/e2e -count=1 -v -run '^TestRollingRestart$$'
	@for s in s3 postgres; do \
		echo "TestSharedStorage and TestRestartUnderLoad on $$s"; \
		OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./test/e2e -count=1 -v -timeout 60m -run '^Test(SharedStorage|RestartUnderLoad)$$' -args -shared.storage=$$s $(FAILURES) || exit 1; \
	done

# The long form of the test that applies revisions under load.
test-online: bin/versitygw ## apply 200 revisions to three built servers on a folder, versitygw and PostgreSQL under 16 clients, and kill the writer during 20 of them
	@for s in folder s3 postgres; do \
		echo "TestSharedApply on $$s"; \
		OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./test/e2e -count=1 -v -timeout 60m -run '^TestSharedApply$$' -args -shared.storage=$$s -shared.applies=200 -shared.apply-kills=20 -shared.apply-clients=16 -shared.apply-retention=24h || exit 1; \
	done

test-follow: ## follow a PostgreSQL database over 1,000 random transactions with 20 kills of the follower, 5 of the database and 5 broken connections, and over 1,000 with 20 kills of the server
	$(GO) test ./test/follow -count=1 -v -timeout 30m -run '^Test(Kills|Large|ServerKills|Takeover)$$' -args -follow.rounds=30 -follow.large=100000

# BODY is the size of the bodies in MB. The stored graph takes about as much disk, and a broken load the body too.
BODY ?= 200
test-body: ## stream a large load to the built server beside another client, and one that breaks off ten times
	$(GO) test ./test/e2e -count=1 -v -timeout 60m -run '^Test(LargeLoad|BrokenLoad)$$' -args -body $(BODY)

test-feed: ## follow the change feed while the built server, and the writer of two servers, are killed 20 times
	$(GO) test ./test/e2e -count=1 -v -timeout 30m -run '^TestFeedOver' -args -feed.kills=20

TEXTTIME ?= 60s
test-texts: ## loop the worst texts in GQ against the built server, TEXTTIME each, and time another client
	$(GO) test ./test/e2e -count=1 -v -timeout 0 -run '^TestHostileTexts$$' -args -texts=$(TEXTTIME)

SOAKTIME ?= 3m
soak: build ## run 16 clients with all they may do against the built server for SOAKTIME, and stop it under load
	$(GO) run ./bench/cmd/soak -bin bin -time $(SOAKTIME)

# The peers are a module of their own, with SQLite compiled in; DuckDB is tested where a
# run of bench-peers has fetched it.
test-peers: ## vet and test the comparison with other databases (needs a C compiler)
	cd bench/peers && CGO_ENABLED=1 $(GO) vet -mod=mod -tags fts5 ./... && CGO_ENABLED=1 $(GO) test -mod=mod -tags fts5 ./...

# SNB is the scale of the network: 1 has 10,000 persons.
SNB ?= 0.05
test-snb: ## compare the reads and updates of the Social Network Benchmark with plain Go and with a PostgreSQL server that the test starts
	$(GO) test ./internal/bench/snb -run '^TestAnswers$$' -count=1 -v -timeout 30m -args -snb.postgres -snb.scale=$(SNB)

FOREIGN := test/foreign
test-foreign: ## run reads in SQL and Cypher beside the queries that the errors offer for them (needs python3 with venv, and pip)
	test/venv.sh $(FOREIGN)
	OMNIGRAPH_TEST_FOREIGN=$(abspath $(FOREIGN)) $(GO) test ./test/foreign -count=1 -v -timeout 20m

test-clients: build ## drive the built server with the official MCP clients and REST clients of seven generators (needs node, npm, python3 with venv; java and mvn for one of the seven)
	internal/server/mcp/testdata/typescript/run.sh
	test/clients/run.sh

test-packed: build ## install the packed clients in TypeScript and Python in empty projects, check their types, and run every call against a server that is killed (needs node, npm, python3 with venv)
	OMNIGRAPH_TEST_PACKED=1 $(GO) test ./test/clients/packed -count=1 -v -timeout 20m

test-frameworks: build ## run the programs of docs/frameworks with scripted models against the built server (needs npm, python3 with venv)
	OMNIGRAPH_TEST_FRAMEWORKS=1 $(GO) test ./test/clients/frameworks -count=1 -v -timeout 20m

# RELEASE_FLAGS='-args -cold' builds the second release of each test with an empty cache.
test-release: ## build a release of this platform twice, install its packages and serve from each; the same for gq release
	cd release && $(GO) vet ./... && $(GO) test -count=1 -v -timeout 40m ./... $(RELEASE_FLAGS)
	OMNIGRAPH_TEST_INIT=1 $(GO) test ./cmd/gq -run '^TestReleaseOfAModule$$' -count=1 -v -timeout 30m $(if $(filter -cold,$(RELEASE_FLAGS)),-args -cold)

bin/cosign:
	GOBIN=$(abspath bin) $(GO) install github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3

test-signatures: bin/cosign ## sign a release of this platform with a new key, and verify it with cosign (minutes at first)
	cd release && OMNIGRAPH_TEST_COSIGN=$(abspath bin/cosign) $(GO) test -count=1 -v -timeout 20m -run '^Test(Signatures|Cosign|SignRefuses|WorkflowToken)$$' .

# No machine runs what is built for these, so that vet and the compiler are the only checks. Benchmarks, and the tests
# of built commands, run on Unix only.
PLATFORMS := windows/amd64 darwin/arm64
vet-platforms: ## vet this module for PLATFORMS, except benchmarks and the tests of built commands
	@for p in $(PLATFORMS); do \
		echo "GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet $$($(GO) list ./... | grep -vE '/omnigraph/(bench|test)/') || exit 1; \
	done

# SHOTS names a folder for screenshots of every page.
test-studio: studio/node_modules ## drive every page of the studio in Chromium (needs npm and chromium)
	cd test/studio && $(GO) vet ./... && $(GO) test -count=1 -v -timeout 20m ./... $(if $(SHOTS),-args -shots $(abspath $(SHOTS)))

test-site: site studio/node_modules ## open every page of the site of the documentation in Chromium: links, anchors, axe, no other server (needs npm and chromium)
	cd test/studio && $(GO) vet ./... && $(GO) test -count=1 -v -timeout 20m -run '^TestDocumentation' ./... -args -documentation $(abspath bin/site) $(if $(SHOTS),-shots $(abspath $(SHOTS)))

CONFORMANCE := internal/server/testdata/conformance
test-conformance: ## run the official MCP conformance suite against a test graph (needs npm)
	npm ci --prefix $(CONFORMANCE) --silent --no-audit --no-fund
	OMNIGRAPH_CONFORMANCE=$(abspath $(CONFORMANCE)) $(GO) test ./internal/server -run '^TestConformance$$' -count=1 -v

EDITOR_CLIENT := cmd/gq/testdata/editor
test-editor: ## drive every feature of the built gq lsp with the protocol library of VS Code (needs node and npm)
	npm ci --prefix $(EDITOR_CLIENT) --silent --no-audit --no-fund
	OMNIGRAPH_TEST_EDITOR=$(abspath $(EDITOR_CLIENT)) $(GO) test ./cmd/gq -run '^TestEditor$$' -count=1 -v

EXTENSION := cmd/gq/editors/vscode
extension: ## package the extension of VS Code as bin/omnigraph-gq.vsix (needs node and npm)
	@mkdir -p bin
	npm ci --prefix $(EXTENSION) --silent --no-audit --no-fund
	npm run --prefix $(EXTENSION) --silent package
	test -s bin/omnigraph-gq.vsix

OPENAPI := internal/server/testdata/schemathesis
openapi-fuzzer: ## install the fuzzer of test-openapi (needs python3 with venv, and pip)
	test/venv.sh $(OPENAPI)

# SECONDS_MAX says for how long; SEED repeats a run.
test-openapi: build openapi-fuzzer ## fuzz the built server from its OpenAPI document for a minute
	$(OPENAPI)/run.sh

DUCKDB := internal/parquet/testdata/duckdb
duckdb: ## install the DuckDB of test-parquet (needs python3 with venv, and pip)
	test/venv.sh $(DUCKDB)

test-parquet: build duckdb ## compare Parquet exports, read by DuckDB, with the answers of queries
	$(DUCKDB)/run.sh

# -update writes the indexes in the repository too: SCIP_FLAGS='-args -update'.
SCIP := test/scip
test-scip: ## index a TypeScript and a Python package with their SCIP indexers and query both (needs node, npm, python3 with venv)
	npm ci --prefix $(SCIP) --silent --no-audit --no-fund
	test/venv.sh $(SCIP)
	OMNIGRAPH_TEST_SCIP=$(abspath $(SCIP)) $(GO) test ./internal/source/scip -run '^TestIndexers' -count=1 -v $(SCIP_FLAGS)

# GOPLS_FLAGS='-run TestGopls/cobra' compares one module.
bin/gopls:
	GOBIN=$(abspath bin) $(GO) install golang.org/x/tools/gopls@v0.23.0

test-gopls: bin/gopls ## compare who calls, refers to and implements 100 symbols of each of eight public modules with gopls
	OMNIGRAPH_TEST_GOPLS=$(abspath bin/gopls) $(GO) test ./internal/source/gocode -run '^TestGopls$$' -count=1 -v -timeout 60m $(GOPLS_FLAGS)

fuzz: ## run every fuzz target for FUZZTIME each
	@$(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ {t[n++]=$$1} /^ok/ {for (i=0;i<n;i++) print $$2, t[i]; n=0}' | \
	while read -r pkg target; do \
		echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" || exit 1; \
	done

# The same SEED draws the same statements. A difference prints its own seed, and a script
# that shows it.
CASES ?= 1000000
SEED ?= 1
fuzz-engine: ## compare the engine with the reference model on CASES random statements from SEED on; fail the disk in every way
	$(GO) test ./engine/embedded -run '^TestDiskFaults$$' -timeout 0
	$(GO) test ./engine/embedded -run '^TestRandom' -v -timeout 0 \
		-enginetest.cases=$(CASES) -enginetest.duration=0 -enginetest.seed=$(SEED) -enginetest.progress=15s

# The S3 server is a Go module of its own, so that its many dependencies stay out of this one.
bin/versitygw: test/s3gateway/go.mod test/s3gateway/go.sum
	$(GO) build -C test/s3gateway -o $(abspath $@) github.com/versity/versitygw/cmd/versitygw

s3-server: bin/versitygw ## build the S3 server of test-s3 (minutes at first)

test-s3-short: bin/versitygw ## test storage with S3's protocol, and compare random statements on it, against versitygw
	OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./internal/storage/object/s3 -count=1
	OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./engine/embedded -run '^TestRandomStorage$$/^s3$$' -storages -count=1

test-s3: test-s3-short ## the same, the suite of the engine, and built servers that are killed
	OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./engine/embedded -run '^TestSharedStorage$$/^s3$$' -storages -count=1
	OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./test/e2e -run '^TestSharedStorage$$' -count=1 -args -shared.storage=s3

# azurite imitates Azure Blob Storage. The packages of Go that use the SDK of Azure have the build tag azure.
AZURITE := test/azurite
test-azure: ## test storage in Azure Blob Storage, and graphs in it, against azurite (needs node and npm)
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory azurite-tests; \
	else echo "no npm: Azure Blob Storage is not tested, because npm installs azurite"; fi

azurite-tests:
	npm ci --prefix $(AZURITE) --silent --no-audit --no-fund
	$(GO) vet -tags azure ./internal/storage/object/... ./engine/embedded
	OMNIGRAPH_TEST_AZURITE=$(abspath $(AZURITE)) $(GO) test -tags azure ./internal/storage/object/azure ./internal/storage/object/address -count=1
	OMNIGRAPH_TEST_AZURITE=$(abspath $(AZURITE)) $(GO) test -tags azure ./engine/embedded -run '^TestSharedStorage$$/^azure$$' -storages -count=1

test-manifests: ## check the compose files, the Kubernetes file and the Helm chart of the guides with the libraries of those tools
	cd test/manifests && $(GO) vet ./... && $(GO) test -count=1 ./...

# Only schedules in which a server takes over while another one's log object is in flight count.
# A broken promise prints its seed; SEED=n SCHEDULES=1 starts there.
SCHEDULES ?= 100000
simulate: ## run SCHEDULES schedules of three servers on a simulated shared storage, from SEED on
	$(GO) test ./internal/storage/sharedlog/simulation -run '^TestSchedules$$' -v -count=1 -timeout 0 \
		-simulation.schedules=$(SCHEDULES) -simulation.seed=$(SEED)
