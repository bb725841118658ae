# The targets that people use; `make help` lists them.

GO ?= go
# Where `make run` listens; port 0 takes a free one.
BIND ?= 127.0.0.1:8080
DATA := data
GRAPH := $(DATA)/code
FUZZTIME ?= 60s

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build $(GRAPH).loaded ## generate, build, index this repository, load it, serve it
	@exec bin/omnigraph-server --cluster . --bind $(BIND) --dev

reindex: build ## read this repository's code again (stop the server first)
	@rm -f $(GRAPH).loaded
	@$(MAKE) --no-print-directory $(GRAPH).loaded

# The stamp stands for "indexed and loaded"; the graph itself is kept between runs.
$(GRAPH).loaded:
	@mkdir -p $(DATA)
	@test -d $(GRAPH) || bin/omnigraph init --schema queries/code/schema.pg --store $(GRAPH)
	@bin/omnigraph index go ./... --out $(GRAPH).ndjson
	@bin/omnigraph load --store $(GRAPH) --data $(GRAPH).ndjson --mode overwrite
	@touch $@

generate: ## write the generated packages from queries/
	$(GO) generate ./...

build: generate ## build the three commands into bin/
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

# The race detector needs a C compiler; without one the tests run all the same. Inputs
# of tens of megabytes have a run of their own without it: with it they take minutes.
test: ## regenerate and fail on a difference, then run every test
	$(GO) run ./cmd/gq generate --check
	$(GO) vet ./...
	@cc=$$($(GO) env CC); \
	if command -v "$${cc%% *}" >/dev/null 2>&1; then \
		echo "$(GO) test -race -shuffle=on ./..."; CGO_ENABLED=1 $(GO) test -race -shuffle=on ./...; \
	else \
		echo "no C compiler ($$cc): the tests run without the race detector"; $(GO) test -shuffle=on ./...; \
	fi
	$(GO) test ./gq ./gq/syntax -run '^TestHuge$$'
	$(GO) test -tags gq_noparse ./server -run TestServesWithoutParser
	$(GO) test -tags gq_noparse ./gq/syntax -run NoParser
	$(GO) test -tags fault_tombstone ./engine/embedded -run TestFaultIsFound

test-clients: build ## drive the built server with the official TypeScript SDK (needs node and npm)
	server/mcp/testdata/typescript/run.sh

fuzz: ## run every fuzz target for FUZZTIME each
	@$(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ {t[n++]=$$1} /^ok/ {for (i=0;i<n;i++) print $$2, t[i]; n=0}' | \
	while read -r pkg target; do \
		echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" || exit 1; \
	done

bench: ## measure the language, the engine and the server
	$(GO) test -run '^$$' -bench . -benchmem ./bench ./gq ./cmd/gq

SIZE ?= 1
# PROFILE names a folder for CPU profiles of this engine, one a work.
bench-peers: ## measure the engine beside SQLite, DuckDB and PostgreSQL (SIZE=0.02 for a short run)
	@WORK=$(DATA)/peers SIZE=$(SIZE) PROFILE=$(abspath $(PROFILE)) bench/peers/run.sh

bench-codegen: ## measure gq generate beside sqlc generate: time, memory, and whether the result builds
	cd bench/sqlc && $(GO) run .

lint: ## vet, formatting, stale generated code
	$(GO) vet ./...
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "gofmt -w these:"; echo "$$files"; exit 1; }
	$(GO) run ./cmd/gq fmt -l queries
	$(GO) run ./cmd/gq lint --max-warnings 0
	$(GO) run ./cmd/gq generate --check

docs: ## print the references of the language, docs/reference, from the code
	$(GO) run ./cmd/gq docs

golden: ## rewrite the golden files of the tests
	$(GO) test $$(grep -rl --include='*_test.go' 'internal/golden"' . | xargs -n1 dirname | sort -u) -update

clean: ## remove what was built; the data stays
	rm -rf bin

.PHONY: help run reindex generate build test test-clients fuzz bench bench-peers bench-codegen lint docs golden clean
