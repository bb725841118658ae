package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// step is the cost of a load or of an index.
type step struct {
	Wall      time.Duration // elapsed time
	Processor time.Duration // of the database's processes
	Peak      memory        // highest values, sampled
}

// found is the result of the searches of one kind.
type found struct {
	Effort   string        // setting of the searches
	Recall   float64       // fraction of the rows of the exact scan that the searches found
	P50, P99 time.Duration // of a search
	// Processor is the processor time of the database's processes for a search, on average, including
	// the searches that warm up. Other work on the machine hardly changes it.
	Processor time.Duration
}

// result has the figures of a database. It is stored in the folder of the run, so that a later
// run can print it.
type result struct {
	Name          string
	Absent        string // why the database was left out; empty if it was not
	Version       string
	Load, Index   step
	Disk          int64  // size of the files at the end, in bytes
	Before, After string // load averages before the load and after the searches
	All, Filtered found
	Searching     memory // after the searches
}

// contender is a database that can be measured.
type contender struct {
	name    string
	command []string // starts the process of the database
}

// bench is one run.
type bench struct {
	options
	folder string   // of the run
	truth  *answers // of the exact scan; nil before it has run
}

// answers are the rows that searches found, by query.
type answers struct{ All, Filtered [][]int }

// measure loads and searches a database. With -keep it searches a database that an earlier run has
// kept, and does not load it again.
func (b *bench) measure(ctx context.Context, c contender) (_ *result, err error) {
	r := &result{Name: c.name}
	file, dir := filepath.Join(b.folder, c.name+".json"), filepath.Join(b.folder, c.name)
	if _, err := os.Stat(dir); err != nil || !b.keep || readJSON(file, r) != nil {
		if err := b.build(ctx, c, r, dir); err != nil || r.Absent != "" {
			return r, err
		}
		if err := writeJSON(file, r); err != nil {
			return nil, err
		}
	}
	if !b.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	p, err := start(ctx, c.name, c.command)
	if err != nil {
		return nil, err
	}
	var got answers
	if r.All, got.All, err = b.search(p, false); err == nil {
		r.Filtered, got.Filtered, err = b.search(p, true)
	}
	r.Searching = p.memory()
	if err := errors.Join(err, p.stop()); err != nil {
		return nil, err
	}
	if b.truth == nil {
		b.truth = &got
		if err := writeJSON(b.truthFile(), b.truth); err != nil {
			return nil, err
		}
	}
	r.After = measure.LoadAverages()
	return r, writeJSON(file, r)
}

// truthFile returns the file with the answers of the exact scan.
func (b *bench) truthFile() string { return filepath.Join(b.folder, "truth.json") }

// build loads and indexes a database in the folder `dir`.
func (b *bench) build(ctx context.Context, c contender, r *result, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	r.Before = measure.LoadAverages()
	p, err := start(ctx, c.name, c.command)
	if err != nil {
		return err
	}
	if r.Version, r.Absent = p.Version, p.Absent; r.Absent != "" {
		return p.stop()
	}
	if r.Load, err = b.step(p, "load"); err == nil {
		r.Index, err = b.step(p, "index")
	}
	if err := errors.Join(err, p.stop()); err != nil {
		return err
	}
	r.Disk, err = measure.FileBytes(dir)
	return err
}

// step sends a request to load or to index, and measures it. The parameter `do` is that request.
func (b *bench) step(p *process, do string) (s step, err error) {
	fmt.Fprintf(b.progress, "%s %s: %s\n", clock.Now().UTC().Format(time.TimeOnly), p.name, do)
	before, begin, stop := p.processor(), clock.Now(), p.watchMemory()
	_, err = p.ask(request{Do: do})
	return step{Wall: clock.Since(begin), Processor: p.processor() - before, Peak: stop()}, err
}

// search searches with one effort after another until the recall is high enough. If it never is,
// search returns the result with the highest recall.
func (b *bench) search(p *process, filtered bool) (best found, rows [][]int, err error) {
	r := request{Do: "search", Filtered: filtered, Warm: b.queries}
	if p.Linear {
		r.Warm = linearWarm
	}
	for i, effort := range p.Efforts {
		r.Effort = i
		before := p.processor()
		answer, err := p.ask(r)
		if err != nil {
			return best, nil, err
		}
		if len(answer.Answers) != b.queries || len(answer.Micros) != b.queries {
			return best, nil, fmt.Errorf("%s answered %d of %d searches", p.name, len(answer.Answers), b.queries)
		}
		times := make([]time.Duration, len(answer.Micros))
		for i, us := range answer.Micros {
			times[i] = time.Duration(us * float64(time.Microsecond))
		}
		slices.Sort(times)
		now := found{Effort: effort, P50: measure.Quantile(times, 0.5), P99: measure.Quantile(times, 0.99), Recall: 1,
			Processor: (p.processor() - before) / time.Duration(b.queries+min(b.queries, r.Warm))}
		if b.truth != nil {
			want := b.truth.All
			if filtered {
				want = b.truth.Filtered
			}
			now.Recall = recall(answer.Answers, want)
		}
		fmt.Fprintf(b.progress, "%s %s: filtered %t, %s, recall %.4f, p50 %v, p99 %v, processor %v\n", clock.Now().UTC().Format(time.TimeOnly), p.name, filtered,
			effort, now.Recall, now.P50, now.P99, now.Processor)
		if now.Recall >= best.Recall {
			best, rows = now, answer.Answers
		}
		if best.Recall >= b.recall {
			break
		}
	}
	return best, rows, nil
}

// linearWarm is the number of searches that warm up a database that compares all vectors.
const linearWarm = 20

// recall returns the fraction of the wanted rows that the answers contain.
func recall(got, want [][]int) float64 {
	hits, all := 0, 0
	for i, rows := range want {
		all += len(rows)
		for _, row := range rows {
			if i < len(got) && slices.Contains(got[i], row) {
				hits++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(hits) / float64(all)
}

// readJSON reads a file of JSON.
func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// writeJSON writes a file of JSON.
func writeJSON(file string, x any) error {
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
