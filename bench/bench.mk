# The measurements.

# The graph is made again only if the folder $(DATA)/studio is missing.
bench-studio: studio/node_modules ## measure every page of the studio on a graph of 1,620,000 entities (SIZE=0.02 for a short run; needs npm and chromium)
	cd test/studio && $(GO) test -count=1 -v -timeout 40m -run '^TestLarge$$' . -args -size $(SIZE) -kept $(abspath $(DATA))/studio

# KEYSTROKES is the number of characters that the editor types into each project.
KEYSTROKES ?= 500
bench-editor: ## measure a keystroke and the memory of the built gq lsp (needs node and npm)
	npm ci --prefix $(EDITOR_CLIENT) --silent --no-audit --no-fund
	KEYSTROKES=$(KEYSTROKES) OMNIGRAPH_TEST_EDITOR=$(abspath $(EDITOR_CLIENT)) $(GO) test ./cmd/gq -run '^TestEditorKeystrokes$$' -count=1 -v -timeout 30m

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

# ROUNDS is the number of rounds. The files stay in $(DATA)/import.
ROUNDS ?= 3
bench-import: build ## measure imports of 1,620,000 rows from CSV and Parquet beside SQLite, DuckDB and LadybugDB, and a second merge (SIZE=0.02 for a short run)
	@WORK=$(DATA)/peers IMPORT=$(abspath $(DATA))/import ROUNDS=$(ROUNDS) SIZE=$(SIZE) KEYS=$(KEYS) SEED=$(SEED) SNB= bench/peers/run.sh

bench-http: build ## measure the built server against a bare net/http server, as two processes, with 1 and 16 connections
	$(GO) build -o bin/bench-http ./bench/cmd/http && bin/bench-http -bin bin

bench-applied: build ## measure calls of the queries of an applied revision against the same queries compiled into the server
	$(GO) build -o bin/bench-http ./bench/cmd/http && bin/bench-http -bin bin -applied

bench-branches: ## measure branches by the size of the graph, and graphs with 10,000 branches
	$(GO) test ./engine/embedded -run '^$$' -bench '^Benchmark(Branch|Merge)$$' -benchtime 200x -benchmem
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkBranches$$' -benchtime 1x -timeout 30m
	$(GO) test ./internal/server -run '^$$' -bench '^BenchmarkTools$$'

# EDGES lists the sizes for the rewrites, such as EDGES=1000000,10000000.
EDGES ?= 100000,1000000
bench-checkpoints: ## measure checkpoints by the size of the graph and the commits before them, and rewrites, beside a reader and a writer
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkCheckpoint$$' -benchtime 3x -benchmem -timeout 120m
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkRewrite$$' -benchtime 1x -timeout 120m -args -rewrite.edges=$(EDGES)

bench-schemas: ## measure how long writers wait for schema changes that read up to ten million rows
	$(GO) test ./engine/embedded -run '^$$' -bench '^BenchmarkSchema$$' -benchtime 1x -timeout 60m

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

bench-agents: ## make the tasks of gq eval tasks in PostgreSQL and Neo4j too, and compare calls and tokens (needs python3 with venv, Maven and a JDK)
	@mkdir -p $(DATA)/agents/python && cp bench/cmd/agents/peers/requirements.txt $(DATA)/agents/python
	@test/venv.sh $(DATA)/agents/python
	@rm -rf $(DATA)/agents/neo4j; mvn -q -B -f bench/cmd/agents/peers dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $(DATA))/agents/neo4j/lib && \
		javac -nowarn -cp '$(DATA)/agents/neo4j/lib/*' -d $(DATA)/agents/neo4j bench/cmd/agents/peers/Neo4j.java || rm -rf $(DATA)/agents/neo4j
	$(GO) build -o bin/gq ./cmd/gq
	bin/gq eval tasks --seed 7 --replay right
	$(GO) run ./bench/cmd/agents -python $(DATA)/agents/python/.venv/bin/python $$(test -d $(DATA)/agents/neo4j && echo -neo4j $(DATA)/agents/neo4j)

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
