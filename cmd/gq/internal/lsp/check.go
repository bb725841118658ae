package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// finding is a diagnostic with its place in the current text of its file, and the edits that fix it.
type finding struct {
	diag.Diagnostic
	from, to int         // offsets of the place
	edits    []diag.Edit // nil if there is no mechanical fix; their places are those of the diagnosed text
	text     *text       // the text that was diagnosed
}

// job is a graph with the texts of its sources at one moment.
type job struct {
	graph     *graph
	catalog   compile.Catalog
	input     model.Input      // the names and settings with which the graph's Go package is generated
	texts     map[string]*text // by path
	threshold int
	tools     func(model.Input, int, bool) (*model.Package, *lint.ToolList, diag.List)
}

// source returns the text of a source for the compiler. A file that cannot be read counts as empty;
// a fault of the configuration reports it. REQUIRES: s.mu.
func (s *server) source(j *job, path string) compile.Source {
	t, err := s.read(path)
	if err != nil {
		t = newText("")
	}
	j.texts[path] = t
	return compile.Source{Name: j.graph.project.name(path), Text: t.content}
}

// job collects the sources of a graph: all of them, or the schema and the file `only`. REQUIRES: s.mu.
func (s *server) job(g *graph, only string) *job {
	p := g.project
	j := &job{graph: g, texts: map[string]*text{}, threshold: g.meta, tools: s.opts.Tools}
	j.catalog = compile.Catalog{Config: p.config.Lint, NoProvider: g.noProvider, Whole: g.whole && only == "", Options: compile.Options{Claims: p.claims}}
	if g.schema != "" {
		j.catalog.Schema = s.source(j, g.schema)
	}
	for _, path := range g.queries {
		if only == "" || path == only {
			j.catalog.Queries = append(j.catalog.Queries, s.source(j, path))
		}
	}
	if g.selected != nil {
		j.catalog.Selected = map[string]string{}
		for query, path := range g.selected {
			j.catalog.Selected[query] = p.name(path)
		}
	}
	j.input = model.Input{Graph: g.id, Source: j.catalog.Schema, Sources: j.catalog.Queries, Strict: p.config.Strict}
	if g.whole {
		j.input.Selected, j.input.SelectedAt = j.catalog.Selected, g.selectedAt
	}
	return j
}

// lint runs the compiler and the rules. Without a schema it only parses.
func (j *job) lint() *compile.Linted {
	if j.graph.schema == "" {
		return &compile.Linted{Report: parseOnly(j.catalog.Queries)}
	}
	return j.graph.linter.Lint(j.catalog)
}

// parseOnly reports the errors of the grammar in queries without a schema.
func parseOnly(sources []compile.Source) *lint.Report {
	r := &lint.Report{}
	for _, src := range sources {
		_, faults := syntax.ParseQueries(src.Name, src.Text)
		r.List = append(r.List, faults...)
	}
	return r
}

// findings returns the findings of a report by path.
func (j *job) findings(r *lint.Report) map[string][]finding {
	byPath := map[string][]finding{}
	for i, d := range r.List {
		path := j.graph.project.path(d.Span.File)
		f := finding{Diagnostic: d, from: d.Span.Start.Offset, to: d.Span.End.Offset, edits: r.Edits[i], text: j.texts[path]}
		byPath[path] = append(byPath[path], f)
	}
	return byPath
}

// checkLoop checks each document that changed, without the other files, until the context ends. The
// rules that compare files run in surveyLoop; the earlier findings of these rules stay until then.
func (s *server) checkLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.check:
		}
		s.mu.Lock()
		changed := s.changed
		s.changed = map[string]bool{}
		s.mu.Unlock()
		for path := range changed {
			s.checkDocument(ctx, path)
		}
	}
}

// checkDocument checks one document and publishes the findings.
func (s *server) checkDocument(ctx context.Context, path string) {
	s.mu.Lock()
	d := s.docs[path]
	if d == nil || !isSource(path) {
		s.mu.Unlock()
		if d != nil {
			s.checkSettings(ctx, path)
		}
		return
	}
	at := d.text
	part := d.changedPart()
	var kept []finding // those outside of the part
	for _, f := range d.own {
		// A fault with an empty place at an end of the part, such as a missing token, belongs to
		// the part.
		if f.from < f.to && (f.to <= part.from || part.to <= f.from) {
			kept = append(kept, f)
		}
	}
	var jobs []*job
	for _, g := range s.projectOf(path).of(path) {
		j := s.job(g, path)
		j.only(part)
		jobs = append(jobs, j)
	}
	s.mu.Unlock()

	found := kept
	for _, j := range jobs {
		r := j.lint()
		found = join(found, j.findings(r.Report)[path])
		if r.Schema != nil {
			s.mu.Lock()
			j.graph.setCatalog(r.Schema)
			s.mu.Unlock()
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.docs[path]; d != nil && d.text == at {
		d.own = found
		d.untouched()
		s.publish(ctx, path, join(slices.Clone(found), d.carried))
	}
}

// checkSettings reads the configuration of a project again if the document is one of its files.
func (s *server) checkSettings(ctx context.Context, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.projectOf(path)
	if base := filepath.Base(path); base != clusterFile && base != "gq.yaml" {
		return
	}
	s.load(p)
	s.publishSettings(ctx, p)
}

// publishSettings publishes the faults of the configuration of a project, and the findings in cluster.yaml of the last check of
// all graphs, unless cluster.yaml changed since. REQUIRES: s.mu.
func (s *server) publishSettings(ctx context.Context, p *project) {
	for path, faults := range p.faults {
		t, err := s.read(path)
		if err != nil {
			continue
		}
		var found []finding
		for _, d := range faults {
			found = append(found, finding{Diagnostic: d, from: d.Span.Start.Offset, to: d.Span.End.Offset, text: t})
		}
		if path == filepath.Join(p.dir, clusterFile) {
			found = join(found, slices.DeleteFunc(slices.Clone(p.inSettings), func(f finding) bool { return f.text != t }))
		}
		s.publish(ctx, path, found)
	}
}

// join appends the findings of `more` that are not in `list`. Two graphs may share sources.
func join(list, more []finding) []finding { return append(list, without(more, list)...) }

// without returns the findings of `list` that are not in `other`, each once.
func without(list, other []finding) []finding {
	seen := make(map[findingKey]bool, len(list)+len(other))
	for _, f := range other {
		seen[f.key()] = true
	}
	var out []finding
	for _, f := range list {
		if !seen[f.key()] {
			seen[f.key()] = true
			out = append(out, f)
		}
	}
	return out
}

// findingKey is equal for two findings that say the same about the same place.
type findingKey struct {
	from, to int
	severity diag.Severity
	code     diag.Code
	message  string
}

// key returns the key of a finding.
func (f finding) key() findingKey { return findingKey{f.from, f.to, f.Severity, f.Code, f.Message} }

// setCatalog stores the compiled schema. If the schema changed, setCatalog drops the names that
// were resolved with the earlier one. REQUIRES: the server's lock.
func (g *graph) setCatalog(c *catalog.Schema) {
	if g.catalog != c {
		g.catalog, g.names = c, map[string]*namesEntry{}
	}
}

// surveyLoop checks all graphs after each pause in the changes, until the context ends.
func (s *server) surveyLoop(ctx context.Context) {
	timer := time.NewTimer(s.opts.Pause)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.survey:
			timer.Reset(s.opts.Pause)
		case <-timer.C:
			s.surveyAll(ctx)
		}
	}
}

// surveyAll checks all graphs with open documents.
func (s *server) surveyAll(ctx context.Context) {
	s.mu.Lock()
	stale := s.stale
	s.stale = false
	if stale {
		for _, p := range s.projects {
			s.load(p)
			s.publishSettings(ctx, p)
		}
	}
	opened := map[*project]bool{}
	for path := range s.docs {
		opened[s.projectOf(path)] = true
	}
	if s.stale { // a cluster.yaml appeared or disappeared
		signal(s.survey)
	}
	ref := s.ref
	s.mu.Unlock()
	for p := range opened {
		if stale && p.cluster && s.opts.Earlier != nil {
			earlier, at, err := s.opts.Earlier(p.dir, ref)
			if err != nil {
				earlier, at = nil, nil // a folder outside of git, or a repository without that ref
			}
			s.mu.Lock()
			p.earlier, p.earlierAt = earlier, at
			s.mu.Unlock()
		}
		if !s.surveyProject(ctx, p) {
			return // the change that stopped it starts another survey
		}
	}
	s.refresh(ctx)
}

// surveyProject checks all graphs of a project and publishes the findings of each file. It stops and
// returns false if a document changes meanwhile, because it would only slow down the checks of the changes.
func (s *server) surveyProject(ctx context.Context, p *project) bool {
	s.mu.Lock()
	begun := s.changes.Load()
	var jobs []*job
	for _, g := range p.graphs {
		jobs = append(jobs, s.job(g, ""))
	}
	s.mu.Unlock()
	found := map[string][]finding{}
	alone := map[string][]finding{} // the findings of a check of each open file alone
	texts := map[string]*text{}
	for _, j := range jobs {
		r, pkg, sizes := j.run(func() bool { return s.changes.Load() != begun })
		if s.changes.Load() != begun {
			return false
		}
		for path, list := range j.findings(r.Report) {
			found[path] = join(found[path], list)
		}
		for path, t := range j.texts {
			texts[path] = t
			if _, ok := found[path]; !ok {
				found[path] = nil
			}
		}
		s.mu.Lock()
		s.keep(j, r, pkg, sizes)
		var open []*job
		for path := range j.texts {
			if s.docs[path] != nil && s.docs[path].text == j.texts[path] {
				open = append(open, s.job(j.graph, path))
			}
		}
		s.mu.Unlock()
		for _, one := range open {
			for path, list := range one.findings(one.lint().Report) {
				alone[path] = join(alone[path], list)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publishSurvey(ctx, p, found, alone, texts)
	return true
}

// publishSurvey publishes the findings of a check of all graphs of a project. The arguments map paths of files: `found` to the
// findings of that check, `alone` to those of a check of each open file alone, and `texts` to the texts that were checked.
// REQUIRES: s.mu.
func (s *server) publishSurvey(ctx context.Context, p *project, found, alone map[string][]finding, texts map[string]*text) {
	settings := filepath.Join(p.dir, clusterFile)
	p.inSettings = nil
	// If cluster.yaml has errors, the graphs are those of an earlier text of it, where the findings have other places.
	if t, err := s.read(settings); err == nil && !p.faults[settings].HasErrors() {
		for _, f := range found[settings] {
			f.text = t
			p.inSettings = append(p.inSettings, f)
		}
	}
	delete(found, settings)
	s.publishSettings(ctx, p)
	for path := range p.reported {
		if _, ok := found[path]; !ok {
			s.publish(ctx, path, nil) // no graph has the source any more
		}
	}
	p.reported = map[string]bool{}
	for path, list := range found {
		p.reported[path] = true
		d := s.docs[path]
		if d != nil && d.text != texts[path] {
			continue // it changed during this check, and another check follows
		}
		if now, err := s.read(path); d == nil && err == nil && now != texts[path] {
			signal(s.survey) // the file changed on the disk, so the places of the findings are those of another text
			continue
		}
		if d != nil {
			d.own = alone[path]
			d.carried = without(list, alone[path])
		}
		s.publish(ctx, path, list)
	}
}

// run lints a whole graph and builds its tools. If `stop` returns true, it builds no tools and the result
// is incomplete.
func (j *job) run(stop func() bool) (r *compile.Linted, pkg *model.Package, sizes *lint.ToolList) {
	j.catalog.Build = func(schema *catalog.Schema, queries []*compile.Query) (*lint.ToolList, diag.List) {
		if stop() {
			return nil, nil
		}
		in := j.input
		in.Schema, in.Queries = schema, queries
		built, list, faults := toolsOf(j, in)
		if !j.catalog.Whole || faults.HasErrors() {
			return nil, faults
		}
		pkg, sizes = built, list
		return list, faults
	}
	return j.lint(), pkg, sizes
}

// toolsOf builds the tools of a graph.
func toolsOf(j *job, in model.Input) (*model.Package, *lint.ToolList, diag.List) {
	if j.tools == nil {
		return nil, nil, nil
	}
	if in.Graph == "" {
		in.Graph = "graph"
	}
	return j.tools(in, j.threshold, j.graph.outputs)
}

// keep stores the facts of a complete run for the lenses and the hints. REQUIRES: s.mu.
func (s *server) keep(j *job, r *compile.Linted, pkg *model.Package, sizes *lint.ToolList) {
	g := j.graph
	if r.Schema != nil {
		g.setCatalog(r.Schema)
		g.results = map[string]*compile.Query{}
		for _, q := range r.Queries {
			g.results[q.Plan.Name] = q
		}
	}
	if pkg == nil {
		return
	}
	var now *codegen.Contract
	if g.id != "" {
		now = pkg.Contract()
	}
	g.tools = s.factsOf(g, pkg, sizes, now)
}

// refresh asks the editor to show lenses and hints again.
func (s *server) refresh(ctx context.Context) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	for method, supported := range map[string]bool{
		"workspace/codeLens/refresh": client.refreshLenses, "workspace/inlayHint/refresh": client.refreshHints,
	} {
		if !supported {
			continue
		}
		if _, err := s.conn.Call(ctx, method, nil, nil); err != nil && ctx.Err() == nil {
			s.log(ctx, method+": "+err.Error())
		}
	}
}
