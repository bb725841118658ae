package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Sources is the compiled content of a cluster's files.
type Sources struct {
	Graphs   []*Source // in the order of cluster.yaml
	Policies []string  // the policy files, without duplicates
	Policy   *Policy   // of the server itself, or nil
	Settings string    // digest of the text of cluster.yaml

	Limits *cluster.Limits // of the server; nil if they are not known
	Claims plan.Claims     // the claims that queries may use
	Prune  bool            // the next revision has no proposed queries; Compile leaves it false
	again  bool            // the sources are those of an earlier revision
}

// Source is the compiled content of one graph's files.
type Source struct {
	ID      string
	File    string          // path of the schema file
	Text    string          // text of the schema
	Schema  *catalog.Schema // the compiled Text
	Digest  string          // digest of the schema
	Queries []string        // the stored queries, in the order of their files
	Stored  *Stored         // what a revision records of them; nil if there are none
	Policy  *Policy         // nil if the graph has none
	Limits  *GraphLimits    // nil if they are not known

	Proposed *Stored // the proposed queries that the next revision has; a plan sets it
	earlier  *Graph  // of sources that are those of an earlier revision: the graph there
}

// Compile compiles the schemas, queries and policies of a cluster. It refuses what gq generate refuses, and returns all findings,
// including warnings. The sources are nil if a finding is an error. The returned error is an error
// of reading a file.
func Compile(cfg *cluster.Config) (*Sources, diag.List, error) { return CompileWith(cfg, nil) }

// CompileWith is like [Compile]. Policies may also name the proposed queries of the recorded revision, which may be nil.
func CompileWith(cfg *cluster.Config, recorded *Revision) (*Sources, diag.List, error) {
	limits := cfg.Server.Limits
	s := &Sources{Settings: SettingsDigest(cfg), Limits: &limits, Claims: cfg.Server.Claims}
	found := slices.Clone(cfg.Notes)
	faulty := map[string]bool{}
	for i := range cfg.Graphs {
		g, list, err := compileGraph(cfg, &cfg.Graphs[i])
		if err != nil {
			return nil, nil, err
		}
		faulty[g.ID] = list.HasErrors()
		s.Graphs, found = append(s.Graphs, g), append(found, list...)
	}
	var names []string
	for _, g := range s.Graphs {
		names = append(names, g.ID)
	}
	found = append(found, model.OnePackage(names, func(graph string) diag.Span { return cfg.Graph(graph).At })...)
	more, err := s.policies(cfg, recorded, os.ReadFile, faulty)
	if err != nil {
		return nil, nil, err
	}
	if found = append(found, more...); found.HasErrors() {
		return nil, found, nil
	}
	return s, found, nil
}

// policies records the policies of the graphs and of the server, whose texts the function `read` returns, and returns the findings about
// them. The queries of the graphs in `faulty` are not known. Policies may also name the proposed queries of the recorded revision, which
// may be nil.
func (s *Sources) policies(cfg *cluster.Config, recorded *Revision, read func(file string) ([]byte, error), faulty map[string]bool) (found diag.List, err error) {
	var groups []string
	for _, p := range policies(cfg) {
		o := policy.Options{Graph: p.graph, Graphs: cfg.PolicyGraphs(p.file), TokenGroups: cfg.Server.TokenGroups(), LooseGroups: true, Claims: cfg.Server.Claims}
		if g := cfg.Graph(p.graph); g != nil {
			o.Protected = g.Protected
		}
		if p.graph == "" {
			o.Graphs = nil
		}
		for _, id := range o.Graphs {
			// The queries of a faulty graph are not known. Checking their names would report false
			// faults in the policy as well.
			o.AnyQuery = o.AnyQuery || faulty[id]
			o.Queries = append(append(o.Queries, s.graph(id).Queries...), recorded.proposedNames(id)...)
			if !faulty[id] {
				o.Schemas = append(o.Schemas, s.graph(id).Schema)
			}
		}
		if len(o.Schemas) < len(o.Graphs) {
			o.Schemas = nil // the types of a faulty graph are not known either
		}
		text, err := read(p.file)
		if err != nil {
			return nil, err
		}
		known, list, err := compilePolicy(p.file, text, o)
		if err != nil {
			return nil, err
		}
		s.record(cfg, p.file, string(text))
		groups, found = append(groups, known...), append(found, list...)
		if !slices.Contains(s.Policies, p.file) {
			s.Policies = append(s.Policies, p.file)
		}
	}
	if found.HasErrors() {
		return found, nil
	}
	slices.Sort(groups)
	var unknown diag.List
	if err := cfg.Server.CheckGroups(slices.Compact(groups)); errors.As(err, &unknown) {
		found = append(found, unknown...)
	}
	return found, nil
}

// SettingsDigest returns the digest of the text that cluster.yaml has now, for Revision.Settings. It returns that of an empty
// text if the file cannot be read.
func SettingsDigest(cfg *cluster.Config) string {
	text, _ := os.ReadFile(cfg.File)
	return digest(text)
}

// graph returns the source of the graph with the given id, or nil if there is none.
func (s *Sources) graph(id string) *Source {
	for _, g := range s.Graphs {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// compileGraph compiles a schema and the queries over it, with gq.yaml in the folder of cluster.yaml. If the list has
// errors, only the id of the Source is certain to be set.
func compileGraph(cfg *cluster.Config, c *cluster.Graph) (*Source, diag.List, error) {
	dir := filepath.Dir(cfg.File)
	g := &Source{ID: c.ID, File: c.Schema, Limits: limitsOf(c)}
	text, err := os.ReadFile(c.Schema)
	if err != nil {
		return nil, nil, err
	}
	g.Text = string(text)
	source := gq.Source{Name: c.Schema, Text: g.Text}
	schema, found := gq.CompileSchema(source)
	if found.HasErrors() {
		return g, found, nil
	}
	g.Schema, g.Digest = schema, catalog.Digest(schema)
	var texts []gq.Source
	for _, file := range c.QueryFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, gq.Source{Name: file, Text: string(text)})
	}
	queries, more := (gq.Options{Claims: cfg.Server.Claims}).CompileQueries(schema, texts...)
	found = append(found, more...)
	missing := maps.Clone(c.Selected)
	var selected []*gq.Query
	for _, q := range queries {
		if c.Selected == nil || c.Selected[q.Plan.Name] == q.File {
			selected, g.Queries = append(selected, q), append(g.Queries, q.Plan.Name)
			delete(missing, q.Plan.Name)
			if c.Embedding != nil {
				continue
			}
			if d, ok := lint.CheckProvider(c.ID, schema, q.Plan, q.Places.Name); ok {
				found = append(found, d)
			}
		}
	}
	if found.HasErrors() {
		return g, found, nil
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		found = append(found, diag.Diagnostic{
			Code: strictyaml.UnknownName, Span: c.SelectedAt[name],
			Message: fmt.Sprintf("%s does not contain the query %s, which graph %s lists", missing[name], name, c.ID),
			Help:    "correct the name, or add the query",
		})
	}
	if found.HasErrors() {
		return g, found, nil
	}
	g.Stored, more, err = stored(c, dir, schema, source, texts, selected)
	return g, append(found, more...), err
}

// bound is a policy file with the id of one graph that it applies to; an empty id means the server.
type bound struct{ file, graph string }

// policies lists the policy files of graphs and the server's policy file. It lists a file once or, if
// some of its graphs have protected branches and others have none, twice.
func policies(cfg *cluster.Config) []bound {
	type use struct {
		file      string
		protected bool   // a .cedar file can be correct for a graph with protected branches and wrong for one without
		filters   string // the graph, if it states filters; each is checked
	}
	var all []bound
	listed := map[use]bool{}
	for _, g := range cfg.Graphs {
		u := use{g.Policy, len(g.Protected.Branches) > 0, ""}
		if len(g.Protected.Filters) > 0 {
			u.filters = g.ID
		}
		if g.Policy != "" && !listed[u] {
			listed[u] = true
			all = append(all, bound{g.Policy, g.ID})
		}
	}
	if cfg.ServerPolicy != "" {
		all = append(all, bound{cfg.ServerPolicy, ""})
	}
	return all
}

// record sets the policy of each graph, and of the server, to which a policy file applies.
func (s *Sources) record(cfg *cluster.Config, file, text string) {
	p := &Policy{nameIn(filepath.Dir(cfg.File), file), text}
	for _, id := range cfg.PolicyGraphs(file) {
		s.graph(id).Policy = p
	}
	if cfg.ServerPolicy == file {
		s.Policy = p
	}
}

// compilePolicy returns the groups of a policy file, and its faults.
func compilePolicy(file string, text []byte, o policy.Options) (groups []string, found diag.List, err error) {
	p, err := policy.CompileFile(file, text, o)
	switch {
	case err == nil:
		return p.Groups(), p.Warnings(o.Schemas...), nil
	case errors.As(err, &found):
		return nil, found, nil
	}
	return nil, nil, err
}
