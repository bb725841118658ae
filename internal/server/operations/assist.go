package operations

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/assist"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// AdHocRules turns off the lint rules that only make sense for stored queries.
var AdHocRules = lint.Config{Levels: map[diag.Code]lint.Level{
	lint.NoDescription: lint.Off, lint.NoParamDoc: lint.Off, lint.LongToolName: lint.Off, lint.VectorParam: lint.Off,
	lint.LongDescription: lint.Off, lint.MCPEquals: lint.Off, lint.HardCoded: lint.Off, lint.UpsertClears: lint.Off,
	lint.ChangedWalk: lint.Off,
}}

// maxMarked is the maximum number of faults that an editor marks.
const maxMarked = 50

// Assist is the call that helps the author of a query. Its answer is a client.AssistAnswer. The schema is the one that the caller
// may see, so it completes and describes no other names.
type Assist struct {
	Text    string
	Ask     string // one of the constants of package client; diagnostics if empty
	At      int    // in UTF-16 code units
	Branch  tool.BranchName
	Options queryrun.Options // the commit
}

// Needs returns the permission to read the branch or the commit with queries of one's own.
func (c *Assist) Needs() []tool.Need { return []tool.Need{c.Options.Need(c.Branch, tool.AdHoc)} }

// Run makes the answer.
func (c *Assist) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r, err := c.Options.Reading(ctx, env, c.Branch)
	if err != nil {
		return nil, err
	}
	s, err := env.Graph.Schema(ctx, r.At)
	if err != nil {
		return nil, err
	}
	a := &client.AssistAnswer{}
	err = WithText(ctx, env, "text", c.Text, func(limits work.Limits) error {
		known := assist.Graph{Catalog: s.Catalog, Claims: env.Claims}
		if c.Ask == client.AskCompletion {
			a.Completion = c.complete(known)
			return nil
		}
		queries, report, err := compile.LintWithin(ctx, limits, compile.Options{Claims: env.Claims}, s.Catalog, AdHocRules, compile.Source{Name: sourceName, Text: c.Text})
		switch {
		case err != nil:
			return err
		case c.Ask == client.AskHover:
			known.Queries = map[string]*compile.Query{}
			for _, q := range queries {
				known.Queries[q.Plan.Name] = q
			}
			a.Hover = c.hover(known)
		default:
			a.Queries, a.Diagnostics = c.checked(queries, report)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: a, Less: "send a shorter text"}, nil
}

// complete lists what can be written at the place.
func (c *Assist) complete(g assist.Graph) *client.AssistCompletion {
	from, to, items := g.Complete(sourceName, xref.Read(g.Catalog, sourceName, c.Text), offsetOf(c.Text, c.At))
	slices.SortStableFunc(items, func(a, b assist.Item) int { return cmp.Or(a.Rank-b.Rank, cmp.Compare(a.Label, b.Label)) })
	list := &client.AssistCompletion{From: units(c.Text, from), To: units(c.Text, to), Items: []client.AssistItem{}}
	for _, i := range items {
		list.Items = append(list.Items, client.AssistItem{Label: i.Label, Kind: string(i.Kind), Detail: i.Detail, Doc: i.Doc})
	}
	return list
}

// hover describes the name at the place, or returns nil.
func (c *Assist) hover(g assist.Graph) *client.AssistHover {
	source := xref.Read(g.Catalog, sourceName, c.Text)
	n := source.At(offsetOf(c.Text, c.At))
	if n == nil {
		return nil
	}
	code, doc := g.Describe(n, source)
	if code == "" {
		return nil
	}
	return &client.AssistHover{From: units(c.Text, n.Pos.Offset), To: units(c.Text, n.Pos.Offset+len(n.Value)), Code: code, Doc: doc}
}

// checked returns the queries without errors, and the faults.
func (c *Assist) checked(queries []*compile.Query, report *lint.Report) (good []client.AssistQuery, faults []client.AssistDiagnostic) {
	for _, q := range queries {
		a := client.AssistQuery{Name: q.Plan.Name, Mutation: q.Plan.Mutation != nil, Params: []client.ParamEntry{}}
		for i, p := range q.Plan.Declared() {
			e := param(p)
			e.Description = q.ParamDocs[i]
			a.Params = append(a.Params, e)
		}
		if q.Plan.Read != nil {
			a.Nodes, a.Links = drawn(q.Plan.Read)
		}
		good = append(good, a)
	}
	for i, d := range report.List[:min(len(report.List), maxMarked)] {
		f := client.AssistDiagnostic{Severity: d.Severity.String(), Code: string(d.Code), Message: d.Message, Help: d.Help}
		f.From, f.To = units(c.Text, d.Span.Start.Offset), units(c.Text, d.Span.End.Offset)
		for _, e := range report.Edits[i] {
			f.Edits = append(f.Edits, client.AssistEdit{From: units(c.Text, e.Span.Start.Offset), To: units(c.Text, e.Span.End.Offset), Text: e.Text})
		}
		faults = append(faults, f)
	}
	return good, faults
}

// drawn returns the columns of a read that are nodes, and the edges that its match wants between the nodes of a row.
func drawn(r *plan.Read) (nodes []client.AssistNode, links []client.AssistLink) {
	columns := map[plan.VarID]string{}
	for _, c := range r.Columns {
		of := plan.NoVar
		switch e := c.Expr.(type) {
		case plan.Whole:
			of = e.Var
		case plan.ID:
			of = e.Var
		}
		if of == plan.NoVar || r.Vars[of].Entity != plan.Node {
			continue
		}
		columns[of] = c.Name
		nodes = append(nodes, client.AssistNode{Column: c.Name, Type: r.Vars[of].Type})
	}
	for _, clause := range r.Match {
		t, ok := clause.(plan.Traverse)
		if !ok || t.Walk || t.Undirected || t.Or != nil {
			continue // a row does not say which edges it has
		}
		if from, to := columns[t.From], columns[t.To]; from != "" && to != "" {
			links = append(links, client.AssistLink{From: from, To: to, Edge: t.Edge})
		}
	}
	return nodes, links
}

// units returns the number of UTF-16 code units before an offset of a text.
func units(text string, offset int) int {
	n := 0
	for _, r := range text[:min(max(offset, 0), len(text))] {
		if n++; r >= 0x10000 {
			n++
		}
	}
	return n
}

// offsetOf returns the offset after a number of UTF-16 code units. A number within a character means its start, and one after the text
// its end.
func offsetOf(text string, units int) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if units--; r >= 0x10000 {
			units--
		}
		if units < 0 {
			break
		}
		at += size
	}
	return at
}

// LogArguments returns the arguments of the call for the log.
func (c *Assist) LogArguments() [][]byte { return [][]byte{[]byte(c.Text), []byte(c.Ask)} }
