package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
)

// comparedConfig is the part of the configuration that must be the same on all servers that share a
// storage. It leaves out paths, secrets and the cache, which are a matter of one machine.
type comparedConfig struct {
	CompiledOnly bool `json:",omitempty"`
	Format       int  // of the stored data
	Graphs       []comparedGraph
	Programs     []string `json:",omitempty"` // in place of Graphs: digests of the stored queries that the program contains
	Peers        []string
	Policy       string // content of the policy of the server
	Lease        string // storage.lease, storage.max_staleness and storage.retention
	Server       cluster.Server
}

// comparedGraph is the compared part of the configuration of one graph. Files stand for their contents.
type comparedGraph struct {
	ID        string
	Schema    string
	Queries   []string          // contents of the .gq files
	Selected  map[string]string // by name of the query: the content of its file
	Policy    string
	Catalog   string // digests of the schema and of the stored queries that the program contains
	Embedding string // kind, address and model of the provider
	Quota     cluster.Quota
	Limits    [3]int        // MaxRows, MaxBytes and MetaThreshold
	Flags     [4]bool       // RefuseOversize, OutputSchemas, ObjectRows and FlatArguments
	Toolsets  []string      `json:",omitempty"`
	Keep      time.Duration // ProposalKeep
	DraftKeep time.Duration
	MaxDrafts int
	Confirm   []string `json:",omitempty"`
	Protected protected.Rules
}

// configDigest returns the digest of the configuration that this server compares with other servers. If a revision with policies
// is applied, it leaves out the graphs with their files and settings, which an apply changes while servers run.
func configDigest(o *Options, applied *reconcile.Revision) (string, error) {
	c := o.Cluster
	read := contents{}
	all := comparedConfig{Format: embedded.Format(), CompiledOnly: o.CompiledOnly, Peers: c.Peers, Server: c.Server}
	if !applied.HasPolicies() {
		all.Policy = read.file(c.ServerPolicy)
	}
	if c.Shared != nil {
		all.Lease = c.Shared.Lease.String() + " " + c.Shared.MaxStaleness.String() + " " + c.Shared.Retention.String()
	}
	if applied.HasPolicies() {
		all.Server.Limits = cluster.Limits{MemoryBytes: c.Server.Limits.MemoryBytes, QueryBytes: c.Server.Limits.QueryBytes, Branches: c.Server.Limits.Branches}
		for _, catalog := range o.Catalogs {
			all.Programs = append(all.Programs, catalog.Graph+" "+catalog.SchemaDigest+" "+catalog.SourceDigest)
		}
		c = &cluster.Config{}
	}
	for i := range c.Graphs {
		g := &c.Graphs[i]
		x := comparedGraph{
			ID: g.ID, Quota: g.Quota, Keep: g.ProposalKeep, DraftKeep: g.DraftKeep, MaxDrafts: g.MaxDrafts,
			Limits: [3]int{g.MaxRows, g.MaxBytes, g.MetaThreshold}, Flags: [4]bool{g.RefuseOversize, g.OutputSchemas, g.ObjectRows, g.FlatArguments}, Toolsets: g.Toolsets, Confirm: g.Confirm, Protected: g.Protected,
		}
		x.readFiles(&read, g)
		if e := g.Embedding; e != nil {
			x.Embedding = e.Kind + " " + e.BaseURL + " " + e.Model
		}
		if catalog := catalogOf(o.Catalogs, g.ID); catalog != nil {
			x.Catalog = catalog.SchemaDigest + " " + catalog.SourceDigest
		}
		all.Graphs = append(all.Graphs, x)
	}
	if read.err != nil {
		return "", read.err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// readFiles adds the contents of the files of a graph.
func (x *comparedGraph) readFiles(read *contents, g *cluster.Graph) {
	x.Schema, x.Policy = read.file(g.Schema), read.file(g.Policy)
	for _, file := range g.QueryFiles {
		x.Queries = append(x.Queries, read.file(file))
	}
	if g.Selected != nil {
		x.Selected = map[string]string{}
		for name, file := range g.Selected {
			x.Selected[name] = read.file(file)
		}
	}
}

// contents reads files and keeps the first error.
type contents struct{ err error }

// file returns the content of a file. It returns "" for the path "" and after an error.
func (c *contents) file(path string) string {
	if path == "" || c.err != nil {
		return ""
	}
	text, err := os.ReadFile(path)
	c.err = err
	return string(text)
}
