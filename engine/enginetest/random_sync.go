package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// drawSync draws the options of a load in the mode sync.
func (d *drawer) drawSync(s *step) {
	s.newEdges, s.lastWins = false, false
	s.sync.Source = pick(d, []string{"crm", "crm", "erp", "hr"})
	s.sync.Cascade, s.approved = d.rare.percent(30), d.rare.percent(70)
	for _, n := range d.schema.Nodes {
		if d.rare.percent(60) {
			s.sync.Types = append(s.sync.Types, n.Name)
		}
		for _, p := range n.Properties {
			if d.rare.percent(75) {
				s.sync.Yield = append(s.sync.Yield, n.Name+"."+p.Name)
			}
		}
	}
	for _, e := range d.schema.Edges {
		if d.rare.percent(60) {
			s.sync.Types = append(s.sync.Types, e.Name)
		}
		for _, p := range e.Properties {
			if d.rare.percent(75) {
				s.sync.Yield = append(s.sync.Yield, e.Name+"."+p.Name)
			}
		}
	}
}

// deletesRefused has the number of deletes in an error.
var deletesRefused = regexp.MustCompile(`would delete (\d+) entit`)

// deletes returns the number of deletes that a sync needs approval for, or 0.
func (p *pair) deletes(ctx context.Context, s step) int64 {
	_, err := p.model.Load(ctx, strings.NewReader(s.load), engine.LoadOptions{Mode: s.mode, Sync: s.sync, WriteOptions: engine.WriteOptions{Branch: s.branch, DryRun: true}})
	var c *engine.Conflict
	if !errors.As(err, &c) {
		return 0
	}
	m := deletesRefused.FindStringSubmatch(c.Reason)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	must(err)
	return n
}

// sourcesOf returns the sources of the entities that have some, as an export has them: by type and id of a node, and by type
// and ends of an edge, whose id may be a generated one.
func sourcesOf(ctx context.Context, g engine.Graph, at engine.Target) (map[string]string, error) {
	var text strings.Builder
	if _, err := g.Export(ctx, &text, at, engine.ExportOptions{}); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.SplitSeq(text.String(), "\n") {
		if !strings.Contains(line, `"sources":`) {
			continue
		}
		var e struct {
			Type, Edge, Sources string
			From, To            any
			Data                map[string]any
		}
		must(json.Unmarshal([]byte(line), &e))
		if e.Sources == "" {
			continue // a property has the name
		}
		name := fmt.Sprint(e.Type, " ", e.Data["id"])
		if e.Edge != "" {
			name = fmt.Sprint(e.Edge, " ", e.From, " ", e.To)
		} else if e.Data["id"] == nil {
			name = fmt.Sprint(e.Type, " ", e.Data["name"])
		}
		for out[name] != "" {
			name += "+" // parallel edges, in the order of their ids
		}
		out[name] = e.Sources
	}
	return out, nil
}

// compareSources compares the sources of all entities.
func (p *pair) compareSources(ctx context.Context) string {
	want, err := sourcesOf(ctx, p.model, p.target())
	must(err)
	got, err := sourcesOf(ctx, p.engine, p.target())
	if errors.As(err, new(*engine.Unsupported)) {
		return "" // a number that is not finite
	}
	if err != nil {
		return "export: " + err.Error()
	}
	if !maps.Equal(got, want) {
		return fmt.Sprintf("after the write, the sources are %v, in the model %v", got, want)
	}
	return ""
}
