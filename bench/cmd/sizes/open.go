package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// call is a read whose first answer is timed.
type call struct {
	name   string                       // names the file of the query
	query  string                       // GQ text of the query
	params func(run int) map[string]any // other parameters for each run
}

// calls returns the timed reads of a graph.
func calls(g *social.Graph) []call {
	return []call{
		{
			name: "lookup",
			query: `query lookup($slug: String) { match { $p: Person { slug: $slug } } ` +
				`return { $p.name as name, $p.age as age } limit 1 }`,
			params: func(run int) map[string]any {
				return map[string]any{"slug": g.PersonSlug((run*7919 + 1) % g.Persons)}
			},
		},
		{
			name: "search",
			query: `query search($q: String) { match { $p: Post } ` +
				`return { $p.slug as slug, bm25($p.text, $q) as score } order { bm25($p.text, $q) desc } limit 10 }`,
			params: func(run int) map[string]any {
				return map[string]any{"q": social.Word(20+run) + " " + social.Word(400+run)}
			},
		},
	}
}

const (
	actor = "act-dev"     // the actor that the policy lets read
	token = "bench-token" // the actor's token
)

// open times the first answer to a call by new processes: by the command and by the server, warm
// and cold.
func open(ctx context.Context, o options, g *social.Graph, c call) ([]string, error) {
	file := filepath.Join(o.folder(g), c.name+".gq")
	if err := os.WriteFile(file, []byte(c.query), 0o644); err != nil {
		return nil, err
	}
	var times []string
	for _, door := range []func(context.Context, options, *social.Graph, call, int) (time.Duration, error){byCommand, byServer} {
		for _, cold := range []bool{false, true} {
			var took []time.Duration
			for run := range o.runs + 1 {
				if cold {
					if err := measure.DropCached(o.store(g)); err != nil {
						return nil, err
					}
				}
				d, err := door(ctx, o, g, c, run)
				if err != nil {
					return nil, err
				}
				if run > 0 { // the first one fills the page cache
					took = append(took, d)
				}
			}
			slices.Sort(took)
			times = append(times, fmt.Sprintf("%.1f ms (%.1f)", milliseconds(measure.Quantile(took, 0.5)), milliseconds(took[len(took)-1])))
		}
	}
	return times, nil
}

// milliseconds returns a duration in milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// byCommand returns the time from the start of `omnigraph query` to its end.
func byCommand(ctx context.Context, o options, g *social.Graph, c call, run int) (time.Duration, error) {
	params, err := json.Marshal(c.params(run))
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, o.command("omnigraph"), "query", "--store", o.store(g),
		"--query", filepath.Join(o.folder(g), c.name+".gq"), "--params", string(params), "--json")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	begin := clock.Now()
	out, err := cmd.Output()
	took := clock.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("omnigraph query: %w\n%s", err, faults.Bytes())
	}
	if !hasRows(out) {
		return 0, fmt.Errorf("omnigraph query %s found no row:\n%s", params, out)
	}
	return took, nil
}

// hasRows reports whether the JSON of a result has a row.
func hasRows(result []byte) bool {
	var read struct {
		Rows []json.RawMessage `json:"rows"`
	}
	return json.Unmarshal(result, &read) == nil && len(read.Rows) > 0
}

// byServer returns the time from the start of `omnigraph-server` to its first answer.
func byServer(ctx context.Context, o options, g *social.Graph, c call, run int) (time.Duration, error) {
	body, err := json.Marshal(map[string]any{"query": c.query, "params": c.params(run)})
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(o.command("omnigraph-server"), "--cluster", o.folder(g), "--bind", "127.0.0.1:0")
	cmd.Env = serverproc.Environ(map[string]string{actor: token})
	begin := clock.Now()
	server, err := serverproc.Start(ctx, cmd, nil)
	if err != nil {
		return 0, err
	}
	defer server.Kill()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+server.Addr+"/graphs/"+graphID+"/query", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, server.Log())
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	took := clock.Since(begin)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK || !hasRows(answer) {
		return 0, fmt.Errorf("the server answered %s to %s:\n%s", resp.Status, body, answer)
	}
	return took, nil
}
