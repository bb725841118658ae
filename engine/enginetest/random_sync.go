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
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// drawSeed draws the first load of a script.
func (d *drawer) drawSeed() step {
	s := step{load: d.seedData(), mode: engine.Merge}
	d.feed = strings.Split(s.load, "\n")
	if d.rare.percent(50) {
		s.mode = engine.Sync
		d.drawSync(&s)
		s.sync.Source = "crm"
	}
	return s
}

// drawSync draws the options of a load in the mode sync, except for the source.
func (d *drawer) drawSync(s *step) {
	s.newEdges, s.lastWins = false, false
	s.sync.Cascade, s.approved = d.rare.percent(30), d.rare.percent(70)
	every, yields := d.rare.percent(50), d.rare.percent(50)
	add := func(typ string, props []*catalog.Property) {
		if every || d.rare.percent(50) {
			s.sync.Types = append(s.sync.Types, typ)
		}
		for _, p := range props {
			if yields || d.rare.percent(50) {
				s.sync.Yield = append(s.sync.Yield, typ+"."+p.Name)
			}
		}
	}
	for _, n := range d.schema.Nodes {
		add(n.Name, n.Properties)
	}
	for _, e := range d.schema.Edges {
		add(e.Name, e.Properties)
	}
}

// drawFeed draws the lines of a sync: most lines of the first load, of which some lack a property, and perhaps one of the
// lines `others`. A feed of nodes alone may lack a node whose edges stay.
func (d *drawer) drawFeed(others string) string {
	var lines []string
	nodes := d.rare.percent(25)
	for _, line := range d.feed {
		keep := 85
		switch edge := strings.HasPrefix(line, `{"edge"`); {
		case edge && nodes:
			continue
		case edge, nodes:
			keep = 60
		}
		if d.rare.percent(keep) {
			lines = append(lines, d.withoutProperty(line))
		}
	}
	if d.rare.percent(30) {
		first, _, _ := strings.Cut(others, "\n")
		lines = append(lines, first)
	}
	return strings.Join(lines, "\n")
}

// drawFollowed makes a sync a load of a source that the graph follows: a copy, or changes that also delete.
func (d *drawer) drawFollowed(s *step) {
	if s.followed = true; d.rare.percent(30) {
		return
	}
	if d.rare.percent(60) {
		s.sync.Source = "crm" // which claims most
	}
	s.mode, s.approved, s.sync = engine.Patch, false, engine.SyncOptions{Source: s.sync.Source}
	lines := strings.Split(s.load, "\n")
	for i := range lines {
		for range 4 {
			lines[i] = d.withoutProperty(lines[i])
		}
	}
	s.load = strings.Join(lines, "\n")
	for range d.rare.IntN(9) {
		typ, kind := pick(d.rare, d.schema.Nodes).Name, plan.Node
		if len(d.schema.Edges) > 0 && d.rare.percent(50) {
			typ, kind = pick(d.rare, d.schema.Edges).Name, plan.Edge
		}
		if ids := d.ids[key(kind, typ)]; len(ids) > 0 {
			member := map[plan.Entity]string{plan.Node: "type", plan.Edge: "edge"}[kind]
			s.load += fmt.Sprintf("\n{%q:%q,\"delete\":%s}", member, typ, jsonText(pick(d.rare, ids)))
		}
	}
}

// nextChanges returns the changes of the next load from the followed source.
func (p *pair) nextChanges(ctx context.Context, s step) *engine.SourceChanges {
	c := &engine.SourceChanges{Source: s.sync.Source}
	if at, err := p.model.Load(ctx, strings.NewReader(""), engine.LoadOptions{Mode: engine.Patch, Changes: c, WriteOptions: engine.WriteOptions{Branch: s.branch}}); err == nil {
		c.After = at.Position
	}
	n, _ := strconv.Atoi(c.After)
	c.Position = strconv.Itoa(n + 1)
	return c
}

// withoutProperty removes the last property of some lines.
func (d *drawer) withoutProperty(line string) string {
	var e map[string]json.RawMessage
	var data map[string]json.RawMessage
	if !d.rare.percent(15) || json.Unmarshal([]byte(line), &e) != nil || json.Unmarshal(e["data"], &data) != nil {
		return line
	}
	names := sortedKeys(data)
	if len(names) == 0 || names[len(names)-1] == "id" {
		return line
	}
	delete(data, names[len(names)-1])
	var err error
	e["data"], err = json.Marshal(data)
	must(err)
	text, err := json.Marshal(e)
	must(err)
	return string(text)
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
