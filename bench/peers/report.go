package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
)

// table is a Markdown table.
type table struct {
	head []string   // titles of the columns
	rows [][]string // cells of each row
}

// add adds a row.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print prints the table.
func (t *table) print() {
	line := func(cells []string) { fmt.Println("| " + strings.Join(cells, " | ") + " |") }
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, r := range t.rows {
		line(r)
	}
	fmt.Println()
}

// head prints the date, the Go version, the machine and the size of the graph.
func (b *bench) head(context.Context) error {
	cpu := "an unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range bytes.Lines(text) {
			if name, value, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	g := b.graph
	fmt.Printf("%s, %s, %d processors (%s), load averages at the start %s.\n", time.Now().UTC().Format("2006-01-02 15:04 MST"),
		runtime.Version(), runtime.NumCPU(), cpu, measure.LoadAverages())
	if b.code {
		fmt.Println()
		return nil
	}
	fmt.Printf("%d persons, %d companies, %d posts (%d with a vector), %d knows, %d works at, %d authored; seed %d, %s keys.\n\n",
		g.Persons, g.Companies, g.Posts, g.Vectors, g.Knows, g.WorksAt, g.Authored, g.Seed, &g.Keys)
	return nil
}

// versions prints the versions of the databases.
func (b *bench) versions(ctx context.Context, sessions []session) error {
	var list []string
	for i, s := range sessions {
		v, err := s.version(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", b.peers[i].name(), err)
		}
		list = append(list, b.peers[i].name()+" "+strings.TrimPrefix(v, "v"))
	}
	fmt.Printf("Versions: %s.\n\n", strings.Join(list, "; "))
	return nil
}

// seconds returns a quantile in seconds, or NaN if nothing was measured.
func seconds(s *series, q float64) float64 {
	if s == nil || len(s.times) == 0 {
		return math.NaN()
	}
	return s.quantile(q).Seconds()
}

// ratio returns the quotient of the first figure, which is this engine's, and the smallest of the
// others. It also says whether the quotient meets the goal.
func ratio(figures []float64, goal float64) string {
	best := math.Inf(1)
	for _, f := range figures[1:] {
		if f < best { // a comparison with NaN is false
			best = f
		}
	}
	if math.IsNaN(figures[0]) || math.IsInf(best, 1) {
		return fmt.Sprintf("– (≤ %g)", goal)
	}
	r := figures[0] / best
	verdict := "missed"
	if r <= goal {
		verdict = "met"
	}
	return fmt.Sprintf("%.3g (≤ %g, %s)", r, goal, verdict)
}

// brief rounds a time for a table.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		return "–" + brief(-d)
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2f µs", float64(d)/1e3)
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(d)/1e6)
}

// mega returns a number of bytes in MB of a million bytes.
func mega(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

// megaOf returns the size of a file in MB.
func megaOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return "an unknown size"
	}
	return mega(info.Size())
}
