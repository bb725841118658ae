package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	schema = `
node Passage {
  slug: String @key
  part: I32 @index
  place: Vector(%d) %s
}
`
	searches = `
query all($q: Vector(%[1]d)) {
  match { $p: Passage }
  return { $p.slug as slug, nearest($p.place, $q) as distance }
  order { distance }
  limit 10
}
query filtered($q: Vector(%[1]d), $part: I32) {
  match { $p: Passage { part: $part } }
  return { $p.slug as slug, nearest($p.place, $q) as distance }
  order { distance }
  limit 10
}
`
)

// ours is the engine with a graph. Without @ann its answers are exact.
type ours struct {
	options
	approximate   bool // the vectors have @ann
	graph         *embedded.Graph
	all, filtered *plan.Query
}

// newOurs opens the graph in the folder, if there is one.
func newOurs(ctx context.Context, o options, approximate bool) (*ours, error) {
	s := &ours{options: o, approximate: approximate}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: s.schema()})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "searches.gq", Text: fmt.Sprintf(searches, o.dim)})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	for _, q := range queries {
		switch q.Plan.Name {
		case "all":
			s.all = q.Plan
		case "filtered":
			s.filtered = q.Plan
		}
	}
	if _, err := os.Stat(o.dir); err != nil {
		return s, nil
	}
	var err error
	s.graph, err = embedded.Open(ctx, fs.OS(), o.dir, embedded.Options{})
	return s, err
}

// schema returns the text of the schema.
func (s *ours) schema() string {
	ann := ""
	if s.approximate {
		ann = "@ann"
	}
	return fmt.Sprintf(schema, s.dim, ann)
}

// greet implements [database].
func (s *ours) greet() greeting {
	g := greeting{Version: "omnigraph, exact scan", Processes: []int{os.Getpid()}, Efforts: []string{"exact"}, Linear: true}
	if s.approximate {
		g.Version, g.Efforts, g.Linear = "omnigraph, @ann", []string{"as built"}, false
	}
	return g
}

// load implements [database]. Another process generates the rows, so that this one does nothing but
// load them.
func (s *ours) load(ctx context.Context) (err error) {
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: s.schema()})
	if err := faults.Err(); err != nil {
		return err
	}
	if s.graph, err = embedded.Create(ctx, fs.OS(), s.dir, s.schema(), compiled, embedded.Options{}); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	generator := exec.CommandContext(ctx, self, "-generate", "-rows", strconv.Itoa(s.rows), "-dim", strconv.Itoa(s.dim),
		"-seed", strconv.FormatUint(s.seed, 10))
	generator.Stderr = os.Stderr
	lines, err := generator.StdoutPipe()
	if err != nil {
		return err
	}
	if err := generator.Start(); err != nil {
		return err
	}
	_, err = s.graph.Load(ctx, lines, engine.LoadOptions{Mode: engine.Append})
	lines.Close()
	return errors.Join(err, generator.Wait())
}

// index implements [database]. A load leaves the index to a build in the background, and nothing
// reports its end. The codes of the vectors are the larger part of the index, so it is stored once
// the segments have grown by a byte a component.
func (s *ours) index(ctx context.Context) error {
	if !s.approximate {
		return nil
	}
	before := s.graph.Stats()
	for ctx.Err() == nil {
		now := s.graph.Stats()
		if now.CheckpointFailures > before.CheckpointFailures {
			return errors.New("the index was not stored")
		}
		if now.SegmentBytes-before.SegmentBytes >= int64(s.rows)*int64(s.dim) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

// search implements [database].
func (s *ours) search(ctx context.Context, query []float32, filtered bool) (rows []int, took time.Duration, err error) {
	plan, args := s.all, engine.Args{value.OfVector(query)}
	if filtered {
		plan, args = s.filtered, append(args, value.OfI32(filterPart))
	}
	var keys []string
	begin := clock.Now()
	res, err := s.graph.Query(ctx, plan, args, engine.Target{})
	if err != nil {
		return nil, 0, err
	}
	defer res.Close()
	for {
		batch, err := res.Next(ctx)
		if err != nil {
			return nil, 0, err
		}
		if batch == nil {
			break
		}
		for i := range batch.Len {
			keys = append(keys, strings.Clone(batch.Columns[0].Value(i).Str()))
		}
	}
	took = clock.Since(begin)
	for _, key := range keys {
		row, err := rowOf(key)
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, row)
	}
	return rows, took, nil
}

// close implements [database].
func (s *ours) close() error {
	if s.graph == nil {
		return nil
	}
	return s.graph.Close()
}
