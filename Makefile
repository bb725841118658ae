# The targets that people use; `make help` lists them.

GO ?= go
# Where `make run` listens; port 0 takes a free one.
BIND ?= 127.0.0.1:8080
DATA := data
GRAPH := $(DATA)/code
FUZZTIME ?= 60s

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build applied $(GRAPH).loaded ## generate, build, index this repository, load it, serve it
	@exec bin/omnigraph-server --cluster . --bind $(BIND) --dev

reindex: build ## read this repository's code again (stop the server first)
	@rm -f $(GRAPH).loaded
	@$(MAKE) --no-print-directory $(GRAPH).loaded

applied: build
	@bin/omnigraph cluster apply --format table

# The stamp stands for "indexed and loaded"; the graph itself is kept between runs.
$(GRAPH).loaded: | applied
	@bin/omnigraph index go ./... --out $(GRAPH).ndjson
	@bin/omnigraph load --store $(GRAPH) --data $(GRAPH).ndjson --mode overwrite
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
	$(GO) test ./engine/embedded -run '^TestRandom' -v -enginetest.duration=1m
	$(GO) test -tags faults ./engine/embedded -run '^TestFaultsAreFound$$' -v

# STORAGE_FLAGS= may be '-timeout 0 -enginetest.duration=0 -enginetest.cases=100000'.
test-storage: ## run the suite of the engine, and compare random statements, on each kind of shared storage that is installed
	$(GO) test ./engine/embedded -run '^Test(SharedStorage|RandomStorage)$$' -v -storages $(STORAGE_FLAGS)

# The packages that start goroutines or hold locks. The detector slows tests down five to
# ten times and needs a C compiler. RACE_FLAGS= runs the long tests with it too.
RACE_PACKAGES := ./engine/... ./server/... ./client ./internal/server/... ./internal/fs ./internal/gq/work ./internal/bench/contention ./internal/parquet ./internal/object/... ./internal/sharedlog/... ./internal/replica
# RACE_SKIPS take long and start no goroutines that other tests do not start too.
RACE_SKIPS := TestConformanceReopened|TestConformanceSpilled|TestSeededFaultsAreFound|TestVectorGraphRecall|$\
	TestMergeBasesOfMany|TestMore|TestTopMatchesScan|TestFlippedByte|TestFlippedBytes|TestCold|TestLargePlans|TestDense|$\
	TestNothingNamesWhatIsHidden|TestNoTokenShows|TestListAgreesWithCall|TestFindSymbolsRanks|TestNotesOfCodeGraph|TestShrinkKeepsADifference|$\
	TestSpilledBases|TestSortedFollowsChanges|TestBuildInRanges|TestVectorGraphDamaged|TestVectorCodesAreNotCopied|$\
	TestPagesArePersistent|TestSortedTouchesWhatItReturns|TestFill|TestFillAgain|TestFillDamaged|TestFillCopies|TestSharedCache|TestCrash|TestCrashTwice|TestCrashSpilledLoad|TestDiskFaults|TestSharedPowerCut|TestFailedCleanup|TestPastAtRandom|TestRestoreScripts|TestConformanceShared|TestHostileBytes
RACE_FLAGS ?= -short -timeout 30m -skip '^($(RACE_SKIPS))$$'
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
CLOCK_SKIPS := TestMemory|TestDiskFaults|TestLargerGraph|TestRandom|TestContention|TestCrash|TestConcurrent|$\
	TestConformance|TestFlippedByte|TestFailedCleanup|TestPastAtRandom|TestApproximate|TestHubs
test-clock-short: ## run the tests with dates, expiries and time limits ten years ahead
	@$(MAKE) --no-print-directory test-clock ZONE=Pacific/Kiritimati CLOCK_FLAGS="-short -skip '$(CLOCK_SKIPS)'" \
		CLOCK_PACKAGES="$$($(GO) list ./internal/... | grep -v /internal/gq/ | tr '\n' ' ') ./generated/... ./server/... ./engine/embedded"
	@$(MAKE) --no-print-directory test-clock ZONE=Pacific/Kiritimati CLOCK_FLAGS="-run '^TestIssuer'" CLOCK_PACKAGES=./test/e2e

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

test-clients: build ## drive the built server with the official MCP clients and REST clients of five generators (needs node, npm, python3 with venv)
	internal/server/mcp/testdata/typescript/run.sh
	test/clients/run.sh

test-init: ## run what gq init prints, and the quickstart, up to calls over MCP (needs curl)
	OMNIGRAPH_TEST_INIT=1 $(GO) test ./cmd/gq -run '^Test(InitLeadsToAServer|InitOfARelease|OwnDomain|Quickstart)$$' -count=1 -v -timeout 30m

# The builder of releases is a module of its own, so that its many dependencies stay out of this one.
# VERSION is the version to build. SOURCE_DATE_EPOCH sets the time of all files.
release: ## build every artifact of VERSION=v0.1.0 into dist/
	cd release && $(GO) run . build -version '$(VERSION)' -commit "$$(git rev-parse HEAD 2>/dev/null)" -out ../dist

# RELEASE_FLAGS='-args -cold' builds the second release of each test with an empty cache.
test-release: ## build a release of this platform twice, install its packages and serve from each; the same for gq release
	cd release && $(GO) vet ./... && $(GO) test -count=1 -v -timeout 40m ./... $(RELEASE_FLAGS)
	OMNIGRAPH_TEST_INIT=1 $(GO) test ./cmd/gq -run '^TestReleaseOfAModule$$' -count=1 -v -timeout 30m $(if $(filter -cold,$(RELEASE_FLAGS)),-args -cold)

# No machine runs what is built for these, so that vet and the compiler are the only checks. Benchmarks, and the tests
# of built commands, run on Unix only.
PLATFORMS := windows/amd64 darwin/arm64
vet-platforms: ## vet this module for PLATFORMS, except benchmarks and the tests of built commands
	@for p in $(PLATFORMS); do \
		echo "GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet $$($(GO) list ./... | grep -vE '/omnigraph/(bench|test)/') || exit 1; \
	done

# The studio is built by a Go module of its own, so that esbuild stays out of this one. Only these
# targets need npm and the network: dist is committed.
internal/studio/node_modules: internal/studio/package.json internal/studio/package-lock.json
	npm ci --prefix internal/studio --silent --no-audit --no-fund
	@touch $@

studio: internal/studio/node_modules ## check the types of the studio and build its dist from its src (needs npm)
	cd internal/studio && npx --no-install tsc
	cd internal/studio/build && $(GO) run .

studio-check: internal/studio/node_modules ## check that the studio in the repository is what its source builds (needs npm)
	cd internal/studio && npx --no-install tsc
	cd internal/studio/build && $(GO) vet . && $(GO) run . --check

# SHOTS names a folder for screenshots of every page.
test-studio: internal/studio/node_modules ## drive every page of the studio in Chromium (needs npm and chromium)
	cd test/studio && $(GO) vet ./... && $(GO) test -count=1 -v -timeout 20m ./... $(if $(SHOTS),-args -shots $(abspath $(SHOTS)))

# The graph is made again only if the folder $(DATA)/studio is missing.
bench-studio: internal/studio/node_modules ## measure every page of the studio on a graph of 1,620,000 entities (SIZE=0.02 for a short run; needs npm and chromium)
	cd test/studio && $(GO) test -count=1 -v -timeout 40m -run '^TestLarge$$' . -args -size $(SIZE) -kept $(abspath $(DATA))/studio

CONFORMANCE := internal/server/testdata/conformance
test-conformance: ## run the official MCP conformance suite against a test graph (needs npm)
	npm ci --prefix $(CONFORMANCE) --silent --no-audit --no-fund
	OMNIGRAPH_CONFORMANCE=$(abspath $(CONFORMANCE)) $(GO) test ./internal/server -run '^TestConformance$$' -count=1 -v

EDITOR_CLIENT := cmd/gq/testdata/editor
test-editor: ## drive every feature of the built gq lsp with the protocol library of VS Code (needs node and npm)
	npm ci --prefix $(EDITOR_CLIENT) --silent --no-audit --no-fund
	OMNIGRAPH_TEST_EDITOR=$(abspath $(EDITOR_CLIENT)) $(GO) test ./cmd/gq -run '^TestEditor$$' -count=1 -v

# KEYSTROKES is the number of characters that the editor types into each project.
KEYSTROKES ?= 500
bench-editor: ## measure a keystroke and the memory of the built gq lsp (needs node and npm)
	npm ci --prefix $(EDITOR_CLIENT) --silent --no-audit --no-fund
	KEYSTROKES=$(KEYSTROKES) OMNIGRAPH_TEST_EDITOR=$(abspath $(EDITOR_CLIENT)) $(GO) test ./cmd/gq -run '^TestEditorKeystrokes$$' -count=1 -v -timeout 30m

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
	OMNIGRAPH_TEST_VERSITYGW=$(abspath bin/versitygw) $(GO) test ./internal/object/s3 -count=1
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
	$(GO) vet -tags azure ./internal/object/... ./engine/embedded
	OMNIGRAPH_TEST_AZURITE=$(abspath $(AZURITE)) $(GO) test -tags azure ./internal/object/azure ./internal/object/address -count=1
	OMNIGRAPH_TEST_AZURITE=$(abspath $(AZURITE)) $(GO) test -tags azure ./engine/embedded -run '^TestSharedStorage$$/^azure$$' -storages -count=1

test-manifests: ## check the compose files and the Kubernetes file of the guides with the libraries of those tools
	cd test/manifests && $(GO) vet ./... && $(GO) test -count=1 ./...

# Only schedules in which a server takes over while another one's log object is in flight count.
# A broken promise prints its seed; SEED=n SCHEDULES=1 starts there.
SCHEDULES ?= 100000
simulate: ## run SCHEDULES schedules of three servers on a simulated shared storage, from SEED on
	$(GO) test ./internal/sharedlog/simulation -run '^TestSchedules$$' -v -count=1 -timeout 0 \
		-simulation.schedules=$(SCHEDULES) -simulation.seed=$(SEED)

# Every test runs at each date in each time zone, and all tests of concurrent code run with
# the race detector; then what .ci/run does in short form runs
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
	$(GO) test ./engine/enginetest -run '^Test(SuiteFindsSeededFaults|SeededFaultsAreFound)$$' -enginetest.faults -timeout 0
	$(MAKE) simulate
	$(MAKE) test-storage STORAGE_FLAGS='-timeout 0 -enginetest.duration=0 -enginetest.cases=100000'
	$(MAKE) test-s3
	$(MAKE) test-azure
	$(MAKE) test-manifests
	@if command -v "$$($(GO) env CC)" >/dev/null 2>&1; then $(MAKE) test-peers; \
	else echo "no C compiler: the comparison with other databases is left out"; fi
	$(MAKE) test-shared
	$(MAKE) test-release RELEASE_FLAGS='-args -cold -emulate'
	$(MAKE) vet-platforms
	$(MAKE) test-feed
	$(MAKE) soak
	@if python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then $(MAKE) test-openapi; \
	else echo "no python3 with venv: the fuzzer of the OpenAPI document is left out"; fi

bench: ## measure the language, the engine and the server
	$(GO) test -run '^$$' -bench . -benchmem ./bench ./gq ./cmd/gq

SIZE ?= 1
# KEYS=scattered gives the graph keys without order or common parts, SEED=7 other rows, and BUDGET=500ms less
# time for each database and task. PROFILE names a folder for CPU profiles of this engine, one for each task. CODE=1 leaves all
# but the code of this repository out.
bench-peers: ## measure the engine beside SQLite, DuckDB and PostgreSQL (SIZE=0.02 for a short run)
	@WORK=$(DATA)/peers SIZE=$(SIZE) KEYS=$(KEYS) SEED=$(SEED) BUDGET=$(BUDGET) PROFILE=$(abspath $(PROFILE)) CODE=$(CODE) SNB= bench/peers/run.sh

bench-snb: SNB = 0.22
bench-snb: ## measure the Social Network Benchmark and LSQB, and compare with DuckDB, LadybugDB, PostgreSQL and Neo4j (SNB=0.02 for a short run)
	@WORK=$(DATA)/peers SNB=$(SNB) bench/peers/run.sh

bench-http: build ## measure the built server against a bare net/http server, as two processes, with 1 and 16 connections
	$(GO) build -o bin/bench-http ./bench/cmd/http && bin/bench-http -bin bin

bench-branches: ## measure branches by the size of the graph, and graphs with 10,000 branches
	$(GO) test ./engine/embedded -run '^$$' -bench '^Benchmark(Branch|Merge)$$' -benchtime 200x -benchmem
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkBranches$$' -benchtime 1x -timeout 30m
	$(GO) test ./internal/server -run '^$$' -bench '^BenchmarkTools$$'

# EDGES lists the sizes for the rewrites, such as EDGES=1000000,10000000.
EDGES ?= 100000,1000000
bench-checkpoints: ## measure checkpoints by the size of the graph and the commits before them, and rewrites, beside a reader and a writer
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkCheckpoint$$' -benchtime 3x -benchmem -timeout 120m
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkRewrite$$' -benchtime 1x -timeout 120m -args -rewrite.edges=$(EDGES)

# ROWS lists the sizes, such as ROWS=1000000,100000000. The largest takes 12 GB of disk below $(DATA).
ROWS ?= 1000000,10000000
bench-sizes: build ## measure loads of several sizes from a pipe, and the first answers of the command and the server
	@mkdir -p $(DATA)
	$(GO) build -o bin/bench-graph ./bench/cmd/graph && $(GO) run ./bench/cmd/sizes -bin bin -dir $(DATA) -rows $(ROWS)

bench-search: ## measure BM25 searches beside Lucene in Neo4j (SIZE=10 for two million posts); needs Maven and a JDK
	@mkdir -p $(DATA)/neo4j
	cd bench/cmd/search/neo4j && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $(DATA))/neo4j/lib
	javac -cp '$(DATA)/neo4j/lib/*' -d $(DATA)/neo4j bench/cmd/search/neo4j/Search.java
	$(GO) run ./bench/cmd/search -classes $(abspath $(DATA))/neo4j -dir $(abspath $(DATA)) -size $(SIZE)

# ROWS and DIM are the size of the vectors; a million rows of 768 take 30 GB of disk below $(DATA).
# ONLY=exact,ann measures some of the databases, and KEEP=1 keeps them for the next run.
bench-ann: ROWS = 100000
bench-ann: DIM = 768
bench-ann: ## compare searches with @ann with the exact scan, pgvector, LanceDB and sqlite-vec (needs python3 with venv, and pip)
	@mkdir -p $(DATA)/ann/python && cp bench/cmd/ann/peers/requirements.txt $(DATA)/ann/python
	@test/venv.sh $(DATA)/ann/python || echo "the Python packages of the other databases are not complete: the table names the databases that are left out"
	$(GO) build -o bin/bench-ann ./bench/cmd/ann
	bin/bench-ann -dir $(DATA)/ann -rows $(ROWS) -dim $(DIM) -python $(DATA)/ann/python/.venv/bin/python,bench/cmd/ann/peers/peers.py \
		$(if $(ONLY),-only $(ONLY)) $(if $(KEEP),-keep)

bench-writers: ## measure 64 writers beside 16 readers on the disk, and that nothing is lost
	@mkdir -p $(DATA)
	@$(GO) run ./bench/cmd/writers -dir $(DATA)

# The delays stand for those of a remote object store. SHARED_FLAGS="-rows 100000 -time 5s" is a short run,
# and SHARED_FLAGS="-tables open,warm" measures some of the tables.
bench-shared: ## measure shared storage: versitygw behind a proxy that delays requests, and PostgreSQL, which must be installed
	@mkdir -p $(DATA)
	$(GO) build -C test/s3gateway -o $(abspath bin/versitygw) github.com/versity/versitygw/cmd/versitygw
	$(GO) build -o bin/bench-shared ./bench/cmd/shared
	bin/bench-shared -dir $(DATA) -gateway bin/versitygw $(SHARED_FLAGS)

bench-codegen: ## measure gq generate beside sqlc generate: time, memory, and whether the result builds
	cd bench/sqlc && $(GO) run .

# BESIDE names another checkout, to compare with in the same run.
bench-author: ## measure an author's loop with a thousand queries: generate and build after an edit, and the server's start
	$(GO) run ./bench/cmd/authorloop $(if $(BESIDE),-beside $(abspath $(BESIDE)))

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
lint: ## vet, staticcheck, formatting, stale generated code
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "gofmt -w these:"; echo "$$files"; exit 1; }
	$(GO) run ./cmd/gq fmt -l queries
	$(GO) run ./cmd/gq lint --max-warnings 0
	$(GO) run ./cmd/gq generate --check

eval: ## measure how well a model can use the tools of this repository's graph and of gq init
	$(GO) run ./cmd/gq eval --check
	$(GO) test ./cmd/gq -run '^TestEval$$' -count=1

docs: ## print the references, docs/reference, from the code
	$(GO) run ./cmd/gq docs
	$(GO) run ./cmd/omnigraph docs > docs/reference/commands.md
	$(GO) run ./cmd/omnigraph-server docs > docs/reference/omnigraph-server.md
	$(GO) test ./internal/settings -run '^TestReferences$$' -count=1 -update
	$(GO) test ./internal/server/observe -run '^TestMetricsPage$$' -count=1 -update
	$(GO) test ./internal/server/rest -run '^Test(Document|Reference)$$' -count=1 -update

golden: ## rewrite the golden files of the tests
	$(GO) test $$(grep -rl --include='*_test.go' 'internal/golden"' . | xargs -n1 dirname | sort -u) -update

clean: ## remove what was built; the data stays
	rm -rf bin

.PHONY: help run applied reindex generate build test test-storage test-race test-short test-clock test-clock-short nightly test-hostile soak studio studio-check test-studio test-peers test-clients test-init test-conformance openapi-fuzzer test-openapi duckdb test-parquet fuzz fuzz-engine s3-server test-s3 test-s3-short test-azure azurite-tests test-manifests simulate bench bench-peers bench-http bench-branches bench-checkpoints bench-sizes bench-search bench-ann bench-writers bench-shared bench-codegen bench-author bench-studio lint eval docs golden clean test-editor bench-editor extension test-shared release test-release test-feed test-snb bench-snb test-scip vet-platforms
