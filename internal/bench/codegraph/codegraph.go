// Package codegraph generates code graphs of a given size for benchmarks.
package codegraph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Size is the size of a generated code graph.
type Size struct {
	Packages, Symbols, Calls int // numbers of each; Calls is far below the number of pairs of symbols
}

// Medium is the size of a graph of about 356,000 entities, like a large module with its
// dependencies.
var Medium = Size{Packages: 1_000, Symbols: 50_000, Calls: 200_000}

// filesPerPackage is the number of files in each generated package.
const filesPerPackage = 5

// PackagePath returns the key of package i, counting from 0.
func PackagePath(i int) string { return fmt.Sprintf("example.com/made/p%04d", i) }

// SymbolPath returns the key of symbol i in a graph of this size.
func (s Size) SymbolPath(i int) string {
	return fmt.Sprintf("%s.Symbol%06d", PackagePath(i%s.Packages), i)
}

// filePath returns the key of the file that contains a symbol.
func (s Size) filePath(symbol int) string {
	return fmt.Sprintf("p%04d/file%d.go", symbol%s.Packages, symbol/s.Packages%filesPerPackage)
}

// Lines returns the number of lines that NDJSON writes.
func (s Size) Lines() int { return s.Packages*(1+filesPerPackage) + 3*s.Symbols + s.Calls }

// NDJSON returns a generated code graph with the schema of queries/code. The same size and seed
// give the same bytes. The number of calls per callee follows a power law, as in real code.
func (s Size) NDJSON(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	emit := func(v map[string]any) {
		if err := enc.Encode(v); err != nil {
			panic(err) // a map of strings and numbers always encodes
		}
	}
	for i := range s.Packages {
		emit(map[string]any{"type": "Package", "data": map[string]any{
			"path": PackagePath(i), "name": fmt.Sprintf("p%04d", i), "files": 1 + rng.IntN(30), "lines": 50 + rng.IntN(5000),
		}})
	}
	for i := range s.Packages * filesPerPackage {
		emit(map[string]any{"type": "File", "data": map[string]any{"path": s.filePath(i), "lines": 10 + rng.IntN(600)}})
	}
	for i := range s.Symbols {
		emit(map[string]any{"type": "Symbol", "data": map[string]any{
			"path": s.SymbolPath(i), "name": fmt.Sprintf("Symbol%06d", i), "kind": []string{"func", "method", "type"}[rng.IntN(3)],
			"exported": rng.IntN(2) == 0, "signature": "func(ctx context.Context, name string) (int, error)",
			"doc":  fmt.Sprintf("Symbol%06d does what its %d neighbours need and says so in one sentence.", i, rng.IntN(40)),
			"line": 1 + rng.IntN(600), "words": fmt.Sprintf("p %04d symbol %06d", i%s.Packages, i),
		}})
	}
	for i := range s.Symbols {
		emit(map[string]any{"edge": "Holds", "from": PackagePath(i % s.Packages), "to": s.SymbolPath(i),
			"data": map[string]any{"id": fmt.Sprintf("h%07d", i)}})
	}
	for i := range s.Symbols {
		emit(map[string]any{"edge": "Declares", "from": s.filePath(i), "to": s.SymbolPath(i),
			"data": map[string]any{"id": fmt.Sprintf("d%07d", i)}})
	}
	callees := rand.NewZipf(rng, 1.3, 8, uint64(s.Symbols-1))
	called := map[[2]int]bool{}
	for i := range s.Calls {
		pair := [2]int{rng.IntN(s.Symbols), int(callees.Uint64())}
		for called[pair] { // the schema has a pair once
			pair = [2]int{rng.IntN(s.Symbols), int(callees.Uint64())}
		}
		called[pair] = true
		emit(map[string]any{"edge": "Calls", "from": s.SymbolPath(pair[0]), "to": s.SymbolPath(pair[1]),
			"data": map[string]any{"id": fmt.Sprintf("c%07d", i), "count": 1 + rng.IntN(9)}})
	}
	return out.Bytes()
}
