// Package social makes the benchmark graph: people who know each other, work at companies and write
// posts. The same size and seed give the same rows.
package social

import (
	"embed"
	"fmt"
	"math"
)

// Schema is the text of the graph's schema.
//
//go:embed schema.pg
var Schema string

//go:embed queries/*.gq
var queries embed.FS

// Queries returns the texts of the stored queries by file name.
func Queries() (map[string]string, error) {
	files, err := queries.ReadDir("queries")
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(files))
	for _, f := range files {
		text, err := queries.ReadFile("queries/" + f.Name())
		if err != nil {
			return nil, err
		}
		out[f.Name()] = string(text)
	}
	return out, nil
}

// Dim is the number of components of a post's vector.
const Dim = 64

// Graph gives the size and the seed of a graph. The methods that list rows generate the rows on the
// fly, and yield the same rows each time.
type Graph struct {
	Seed      uint64 // the random streams derive from it
	Keys      Keys   // the keys of the nodes
	Persons   int    // number of nodes
	Companies int    // number of nodes
	Knows     int    // distinct pairs of different persons
	WorksAt   int    // number of edges WorksAt
	Posts     int    // number of nodes
	Authored  int    // edge i leads to post i modulo Posts
	Vectors   int    // posts with a vector, spread evenly
}

// New returns a graph. Its size is the factor times the full size; a factor of 1 means 1,620,000
// rows, and the largest factor is 100. Each type has at least a few rows.
func New(factor float64, seed uint64) (*Graph, error) {
	if math.IsNaN(factor) || factor <= 0 || factor > 100 {
		return nil, fmt.Errorf("the size factor is %v; it must be more than 0 and at most 100", factor)
	}
	n := func(full int) int { return max(20, int(math.Round(float64(full)*factor))) }
	g := &Graph{
		Seed: seed, Persons: n(100_000), Companies: n(20_000), WorksAt: n(100_000),
		Posts: n(200_000), Authored: n(200_000), Vectors: n(20_000),
	}
	// A graph of few people has room for only few pairs.
	g.Knows = min(n(1_000_000), g.Persons*(g.Persons-1)/4)
	return g, nil
}

// Rows returns the total number of nodes and edges.
func (g *Graph) Rows() int {
	return g.Persons + g.Companies + g.Knows + g.WorksAt + g.Posts + g.Authored
}
