package lsp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
)

// clusterFile is the name of the file that lists the graphs of a project.
const clusterFile = "cluster.yaml"

// project is a folder with a cluster.yaml, or a folder whose sources belong to no cluster.yaml. Its
// fields change only while the server's lock is held.
type project struct {
	dir     string // absolute
	cluster bool   // the folder has a cluster.yaml
	graphs  []*graph
	config  gqconfig.Config // from gq.yaml

	claims plan.Claims // the claims that queries may use, from cluster.yaml or else from gq.yaml

	// policyGroups maps groups of tokens to groups of policies.
	policyGroups map[string]string

	// faults are those of cluster.yaml and gq.yaml, by path. Files without faults have an entry,
	// too.
	faults map[string]diag.List

	reported   map[string]bool // the paths of the sources whose findings the last check of all graphs published
	inSettings []finding       // the findings of that check in cluster.yaml, such as a listed query that no source has

	earlier   []*codegen.Contract // of the git ref to compare with; nil if there are none
	earlierAt map[string]int      // the threshold of the meta tools at that ref, by graph
}

// graph is a graph of a project. Its exported facts change only while the server's lock is held.
type graph struct {
	project    *project
	id         string               // "" outside of a cluster.yaml
	schema     string               // the path of the schema; "" if there is none
	queries    []string             // the paths of the query files
	selected   map[string]string    // paths by the names of the stored queries; nil for all queries
	selectedAt map[string]diag.Span // the places of these names in cluster.yaml
	whole      bool                 // `queries` lists all files of the graph
	meta       int                  // from this number of exposed queries on, the meta tools replace them
	outputs    bool                 // tools/list has output schemas
	noProvider string               // the id, if the graph has no embedding provider; else ""
	policy     string               // the path of the policy; "" if there is none
	protected  protected.Rules      // protected branches and owners in cluster.yaml
	shares     []string             // the ids of the graphs with the same policy
	linter     *compile.Linter

	catalog *catalog.Schema           // compiled from the last schema without errors; nil before the first
	results map[string]*compile.Query // the queries without errors of the last complete run, by name
	tools   map[string]queryFacts     // facts about the stored queries, by name, of the last complete run
	names   map[string]*namesEntry    // the names in the sources, by path
}

// isSource reports whether a path ends in .gq or .pg.
func isSource(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".gq" || ext == ".pg"
}

// has reports whether a source belongs to the graph.
func (g *graph) has(path string) bool { return path == g.schema || slices.Contains(g.queries, path) }

// files returns the paths of all sources.
func (g *graph) files() []string {
	if g.schema == "" {
		return g.queries
	}
	return append([]string{g.schema}, g.queries...)
}

// name returns the name of a source in diagnostics: its path relative to the project, with slashes.
func (p *project) name(path string) string {
	rel, err := filepath.Rel(p.dir, path)
	if err != nil {
		rel = path
	}
	return filepath.ToSlash(rel)
}

// path returns the path of the source with a name.
func (p *project) path(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.FromSlash(name)
	}
	return filepath.Join(p.dir, filepath.FromSlash(name))
}

// findProject returns the folder of the nearest cluster.yaml in the folder of a file or above it. Without
// one, it returns the folder of the file and false.
func findProject(path string) (dir string, ok bool) {
	for dir = filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, clusterFile)); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		if filepath.Dir(dir) == dir {
			return filepath.Dir(path), false
		}
	}
}

// reader reads the text of a file.
type reader func(path string) (string, error)

// load reads the configuration of a project. If cluster.yaml has errors, the project keeps the
// graphs that it had. If it had none, load treats its sources like those of a folder without
// cluster.yaml.
func (p *project) load(read reader) {
	p.faults = map[string]diag.List{}
	if text, err := read(filepath.Join(p.dir, gqconfig.File)); err == nil {
		path := filepath.Join(p.dir, gqconfig.File)
		cfg, faults := gqconfig.Parse(path, []byte(text))
		p.faults[path] = faults
		if !faults.HasErrors() {
			p.config = cfg
		}
	} else {
		p.config = gqconfig.Config{}
	}
	if !p.cluster {
		p.loadFolder()
		return
	}
	path := filepath.Join(p.dir, clusterFile)
	text, err := read(path)
	if err != nil {
		return
	}
	cfg, err := cluster.Parse(path, []byte(text))
	var faults diag.List
	if err != nil && !errors.As(err, &faults) {
		return
	}
	if err == nil {
		faults = append(onePackage(cfg), cfg.Notes...)
		p.loadCluster(cfg)
	}
	p.faults[path] = faults
}

// onePackage returns a fault for each graph that would be generated into the package of another
// graph.
func onePackage(cfg *cluster.Config) diag.List {
	var names []string
	for _, g := range cfg.Graphs {
		names = append(names, g.ID)
	}
	return model.OnePackage(names, func(graph string) diag.Span { return cfg.Graph(graph).At })
}

// loadCluster takes the graphs from a cluster.yaml without errors. It keeps the compiled sources
// and the results of graphs that the project had before.
func (p *project) loadCluster(cfg *cluster.Config) {
	var graphs []*graph
	for i := range cfg.Graphs {
		c := &cfg.Graphs[i]
		g := p.graph(c.ID)
		g.schema, g.queries, g.selected, g.selectedAt = c.Schema, c.QueryFiles, c.Selected, c.SelectedAt
		g.outputs, g.protected = c.OutputSchemas, c.Protected
		g.whole, g.meta, g.policy, g.noProvider = true, c.MetaThreshold, c.Policy, ""
		g.shares = nil
		if c.Policy != "" {
			g.shares = cfg.PolicyGraphs(c.Policy)
		}
		if c.Embedding == nil {
			g.noProvider = c.ID
		}
		graphs = append(graphs, g)
	}
	p.graphs, p.policyGroups, p.claims = graphs, cfg.Server.TokenGroups(), cfg.Server.Claims
}

// loadFolder makes one graph of the sources in a folder, like gq lint with --schema: with the schema of
// the folder, if it has exactly one.
func (p *project) loadFolder() {
	p.claims = p.config.Claims
	g := p.graph("")
	g.schema, g.queries, g.whole = "", nil, false
	entries, _ := os.ReadDir(p.dir) // a folder that cannot be read has no sources
	var schemas []string
	for _, e := range entries {
		path := filepath.Join(p.dir, e.Name())
		switch filepath.Ext(e.Name()) {
		case ".pg":
			schemas = append(schemas, path)
		case ".gq":
			g.queries = append(g.queries, path)
		}
	}
	if len(schemas) == 1 {
		g.schema = schemas[0]
	}
	p.graphs = []*graph{g}
}

// graph returns the graph with an id, or a new one.
func (p *project) graph(id string) *graph {
	for _, g := range p.graphs {
		if g.id == id {
			return g
		}
	}
	return &graph{project: p, id: id, linter: &compile.Linter{}, names: map[string]*namesEntry{}}
}

// of returns the graphs that a source belongs to. A source of a project without a usable cluster.yaml
// may belong to none.
func (p *project) of(path string) []*graph {
	var graphs []*graph
	for _, g := range p.graphs {
		if g.has(path) {
			graphs = append(graphs, g)
		}
	}
	return graphs
}
