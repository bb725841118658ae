package cluster

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// graphID matches valid ids of graphs. An id appears in URLs and is the name of a Go package.
var graphID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(graphIDPattern) })

const graphIDPattern = `^[a-z][a-z0-9_-]{0,62}$`

// reserved is the name that policies use for the server itself.
const reserved = "cluster"

// Read reads a cluster.yaml and the files that it refers to. The error is a diag.List of all
// faults, or an error of reading cluster.yaml.
func Read(path string) (*Config, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// MetaThresholds returns the MetaThreshold of each graph in an old version of cluster.yaml. It
// ignores faults, because files that the old version refers to may not exist any more.
func MetaThresholds(src []byte) map[string]int {
	p := &reader{dir: ".", cfg: &Config{}}
	if root := strictyaml.Read("cluster.yaml", src).Root(); root != nil {
		p.top(root)
	}
	thresholds := map[string]int{}
	for _, g := range p.cfg.Graphs {
		thresholds[g.ID] = g.MetaThreshold
	}
	return thresholds
}

// Parse reads the text of a cluster.yaml and the files to which it refers. Relative paths start at
// the folder of `path`. Faults show `path` as the name of the file.
func Parse(path string, src []byte) (*Config, error) {
	r := strictyaml.Read(path, src)
	p := &reader{dir: filepath.Dir(path), cfg: &Config{File: path}, protectedAt: map[string]*strictyaml.Node{}}
	if root := r.Root(); root != nil {
		p.top(root)
	} else if len(r.Faults()) == 0 {
		r.Whole(strictyaml.Missing, "the file is empty", "write the keys version, storage and graphs")
	}
	faults := r.Faults()
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p.cfg.Notes = faults
	return p.cfg, nil
}

// reader reads a cluster.yaml into a Config.
type reader struct {
	dir        string                // folder of the file
	cfg        *Config               // what was read so far
	embeddings map[string]*Embedding // providers by name
	// protectedAt maps the ids of graphs with protected branches, owners or filters to the place of these.
	protectedAt map[string]*strictyaml.Node
}

// top reads the whole file.
func (p *reader) top(n *strictyaml.Node) {
	f, ok := n.Mapping("cluster.yaml", Settings)
	if !ok {
		return
	}
	n.Require(f, "version", "cluster.yaml").Number()
	if m, ok := f["metadata"].Mapping("metadata", metadataSettings); ok {
		p.cfg.Name, _ = m["name"].Text("metadata.name")
	}
	if s := n.Require(f, "storage", "cluster.yaml"); s != nil {
		p.storage(s)
	}
	p.peers(f["peers"])
	p.embeddings = p.providers(f["providers"])
	p.graphs(n.Require(f, "graphs", "cluster.yaml"))
	p.policies(f["policies"])
	p.server(f["server"])
	p.checkProtected()
	if s := f["state"]; s != nil {
		s.AtKey().Note(strictyaml.Accepted, "state has no effect", "remove it")
	}
}

// graphs reads the section `graphs` of cluster.yaml.
func (p *reader) graphs(n *strictyaml.Node) {
	entries, ok := n.Entries("graphs")
	if !ok {
		return
	}
	if len(entries) == 0 {
		n.Fault(strictyaml.Missing, "graphs is empty", "add a graph, such as people: {schema: schema.pg, queries: queries/}")
	}
	for _, e := range entries {
		switch {
		case e.Key == reserved:
			e.At.Fault(strictyaml.BadValue, fmt.Sprintf("a graph cannot have the name %s, because policies use it for the server", reserved), "choose another name")
		case !graphID().MatchString(e.Key):
			e.At.Fault(strictyaml.BadValue, "a graph's name must be a lower-case letter and then at most 62 of a-z, 0-9, _ and -", "choose another name")
		}
		p.graph(e)
	}
}

// graph reads one graph.
func (p *reader) graph(e strictyaml.Entry) {
	what := "graph " + e.Key
	g := Graph{ID: e.Key, At: e.At.Span(), MaxRows: DefaultMaxRows, MaxBytes: DefaultMaxBytes, MetaThreshold: DefaultMetaThreshold}
	// Add the graph even if it is faulty, so that a policy that refers to it does not cause a
	// second report.
	defer func() { p.cfg.Graphs = append(p.cfg.Graphs, g) }()
	f, ok := e.Value.Mapping(what, graphSettings)
	if !ok {
		return
	}
	if n := e.At.Require(f, "schema", what); n != nil {
		if s, ok := n.Text("schema"); ok {
			g.Schema = p.file(n, s, "schema", ".pg")
		}
	}
	p.queries(&g, f["queries"])
	p.embedding(&g, f["embedding_provider"])
	p.source(&g, f["source"])
	p.quota(&g, f["quota"])
	p.proposals(&g, f["proposals"])
	p.drafts(&g, f["drafts"])
	p.watches(&g, f["watches"])
	p.mcp(&g, f["mcp"])
	if at := cmp.Or(f["protected_branches"], f["owners"], f["filters"]); at != nil {
		g.Protected = protected.Parse(f["protected_branches"], f["owners"], f["filters"])
		p.protectedAt[g.ID] = at.AtKey()
	}
}

// checkProtected checks that each graph with protected branches, owners or filters has a policy that cannot state
// them itself, and that the groups exist. REQUIRES: the policies and the server have been read.
func (p *reader) checkProtected() {
	var groups []string
	for _, name := range p.cfg.Server.TokenGroups() {
		groups = append(groups, name)
	}
	for i := range p.cfg.Graphs {
		g := &p.cfg.Graphs[i]
		at := p.protectedAt[g.ID]
		switch {
		case at == nil:
		case filepath.Ext(g.Policy) != ".cedar":
			at.Fault(strictyaml.Contradicts, fmt.Sprintf("graph %s has protected_branches, owners or filters here, but no policy in a .cedar file applies to it", g.ID), "write them into the policy")
		default:
			g.Protected.CheckGroups(groups)
		}
	}
}

// quota reads the section quota of a graph.
func (p *reader) quota(g *Graph, n *strictyaml.Node) {
	f, ok := n.Mapping("quota", quotaSettings)
	if !ok {
		return
	}
	g.Quota.Bytes, _ = f["bytes"].Number()
	if v, ok := f["branches"].Number(); ok {
		g.Quota.Branches = int(v)
	}
}

// The bounds of proposals.keep.
const (
	minProposalKeep = time.Hour
	maxProposalKeep = 87_600 * time.Hour // ten years
)

// proposals reads the section proposals of a graph.
func (p *reader) proposals(g *Graph, n *strictyaml.Node) {
	f, ok := n.Mapping("proposals", proposalSettings)
	if !ok || f["keep"] == nil {
		return
	}
	if s, ok := f["keep"].Text("keep"); ok {
		d, err := time.ParseDuration(s)
		if err != nil || d < minProposalKeep || d > maxProposalKeep {
			f["keep"].Fault(strictyaml.BadValue, fmt.Sprintf("keep is %q, expected a duration from 1h to 87600h, such as 2160h", s), "")
			return
		}
		g.ProposalKeep = d
	}
}

// maxDraftKeep is the longest time that a draft may stay open without a write: ten years.
const maxDraftKeep = 87_600 * time.Hour

// drafts reads the section drafts of a graph.
func (p *reader) drafts(g *Graph, n *strictyaml.Node) {
	f, ok := n.Mapping("drafts", draftSettings)
	if !ok {
		return
	}
	duration(f["keep"], "drafts.keep", time.Hour, maxDraftKeep, &g.DraftKeep)
	if v, ok := f["max"].Number(); ok {
		g.MaxDrafts = int(v)
	}
}

// queries reads a folder, a list of files, or a mapping from query names to files.
func (p *reader) queries(g *Graph, n *strictyaml.Node) {
	switch {
	case n == nil:
	case n.IsText():
		s, ok := n.Text("queries")
		if !ok {
			return
		}
		files, err := folder(p.join(s))
		if err != nil {
			n.Fault(strictyaml.MissingFile, fmt.Sprintf("queries: the folder %q cannot be read", s), "name a folder of .gq files, or list the files")
			return
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && !info.Mode().IsRegular() { // reading a pipe would wait
				n.Fault(strictyaml.MissingFile, fmt.Sprintf("queries: %q is not a file", filepath.Join(s, filepath.Base(f))), "remove it from the folder")
				return
			}
		}
		g.QueryFiles = files
	case n.IsList():
		files, _ := n.Texts("queries")
		for _, f := range files {
			g.QueryFiles = append(g.QueryFiles, p.file(f.Value, f.Key, "queries", ".gq"))
		}
	default:
		entries, ok := n.Entries("queries")
		if !ok {
			return
		}
		g.Selected, g.SelectedAt = map[string]string{}, map[string]diag.Span{}
		for _, e := range entries {
			what := "query " + e.Key
			f, ok := e.Value.Mapping(what, querySettings)
			if !ok {
				continue
			}
			if n := e.At.Require(f, "file", what); n != nil {
				if s, ok := n.Text("file"); ok {
					g.Selected[e.Key], g.SelectedAt[e.Key] = p.file(n, s, what, ".gq"), e.At.Span()
					g.QueryFiles = append(g.QueryFiles, g.Selected[e.Key])
				}
			}
		}
	}
	slices.Sort(g.QueryFiles)
	g.QueryFiles = slices.Compact(g.QueryFiles)
}

// mcp reads the section mcp of a graph.
func (p *reader) mcp(g *Graph, n *strictyaml.Node) {
	f, ok := n.Mapping("mcp", mcpSettings)
	if !ok {
		return
	}
	if v, ok := f["max_rows"].Number(); ok {
		g.MaxRows = int(v)
	}
	if v, ok := f["max_bytes"].Number(); ok {
		g.MaxBytes = int(v)
	}
	if v, ok := f["on_oversize"].Word(); ok {
		g.RefuseOversize = v == oversizeRefuse
	}
	if v, ok := f["meta_threshold"].Number(); ok {
		g.MetaThreshold = int(v)
	}
	g.OutputSchemas, _ = f["output_schemas"].Bool("output_schemas")
	switch v, _ := f["mode"].Word(); v {
	case modePerQuery:
		g.MetaThreshold = math.MaxInt32
	case modeMeta:
		g.MetaThreshold = 1
	}
	sets, _ := f["toolsets"].Texts("toolsets")
	for _, s := range sets {
		if v, ok := s.At.OneOf("an entry of toolsets", Toolsets...); ok {
			g.Toolsets = append(g.Toolsets, v)
		}
	}
	if v, ok := f["arguments"].Word(); ok {
		g.FlatArguments = v == argumentsFlat
	}
	if v, ok := f["rows"].Word(); ok {
		g.ObjectRows = v == rowsObjects
	}
	actions, _ := f["confirm"].Texts("confirm")
	for _, a := range actions {
		if v, ok := a.At.OneOf("an entry of confirm", Confirmable...); ok {
			g.Confirm = append(g.Confirm, v)
		}
	}
}

// policies reads the section policies.
func (p *reader) policies(n *strictyaml.Node) {
	entries, _ := n.Entries("policies")
	known := []string{reserved}
	for _, g := range p.cfg.Graphs {
		known = append(known, g.ID)
	}
	bound := map[string]string{} // policy file by graph id
	for _, e := range entries {
		what := "policy " + e.Key
		f, ok := e.Value.Mapping(what, policySettings)
		if !ok {
			continue
		}
		file := ""
		if n := e.At.Require(f, "file", what); n != nil {
			if s, ok := n.Text("file"); ok {
				file = p.file(n, s, what, ".yaml", ".yml", ".cedar")
			}
		}
		targets, ok := e.At.Require(f, "applies_to", what).Texts("applies_to")
		if ok && len(targets) == 0 {
			f["applies_to"].Fault(strictyaml.Missing, what+" has an empty applies_to", "list graphs, or cluster for the server itself")
		}
		for _, t := range targets {
			if !slices.Contains(known, t.Key) {
				t.At.Unknown(strictyaml.UnknownName, "graph", t.Key, "applies_to", known)
				continue
			}
			if other, twice := bound[t.Key]; twice {
				t.At.Fault(strictyaml.Contradicts, fmt.Sprintf("policy %s already applies to %s", other, t.Key), "put the rules into one file")
				continue
			}
			bound[t.Key] = e.Key
			if t.Key == reserved {
				p.cfg.ServerPolicy = file
			} else {
				p.cfg.Graph(t.Key).Policy = file
			}
		}
	}
}

// server reads the section server.
func (p *reader) server(n *strictyaml.Node) {
	f, ok := n.Mapping("server", serverSettings)
	if !ok {
		return
	}
	hosts, _ := f["public_hosts"].Texts("public_hosts")
	for _, h := range hosts {
		if _, err := hostcheck.ParseHost(h.Key); err != nil {
			h.At.Fault(strictyaml.BadValue, err.Error(), "")
			continue
		}
		p.cfg.Server.PublicHosts = append(p.cfg.Server.PublicHosts, h.Key)
	}
	origins, _ := f["browser_origins"].Texts("browser_origins")
	for _, o := range origins {
		if _, err := hostcheck.ParseOrigin(o.Key); err != nil {
			o.At.Fault(strictyaml.BadValue, err.Error(), "")
			continue
		}
		p.cfg.Server.BrowserOrigins = append(p.cfg.Server.BrowserOrigins, o.Key)
	}
	p.cfg.Server.Studio, _ = f["studio"].Bool("studio")
	p.claims(f["claims"], "server.claims")
	for _, section := range authSections {
		section.read(p, f[section.settings.Key])
	}
	p.limits(f["limits"])
	p.audit(f["audit"])
}
