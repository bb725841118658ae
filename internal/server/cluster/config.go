// Package cluster reads cluster.yaml, which lists the graphs that a server serves, their source
// files and their policies.
package cluster

import (
	"time"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
)

// Config is a cluster.yaml that was read without faults. Its paths are the paths of the file,
// joined to the folder of the file.
type Config struct {
	File    string   // path of the file, as Read received it
	Name    string   // name of the cluster, or ""
	Storage string   // the data folder, which may not exist yet; "" if Shared is set
	Shared  *Shared  // the storage that several servers share, or nil
	Peers   []string // the addresses of the servers of the cluster, as scheme://host[:port]
	Graphs  []Graph  // in the order of the file
	Server  Server   // how clients reach the server, and its limits

	// ServerPolicy is the policy file for the server itself, or "".
	ServerPolicy string

	// Notes are remarks about the file. They are not errors.
	Notes diag.List
}

// Shared describes storage that several servers share.
type Shared struct {
	URL          string        // where the storage is; package address opens it
	Cache        string        // folder of this server for copies of stored data
	CacheBytes   int64         // bound on the size of these copies, except the mapped ones; 0 for none
	Lease        time.Duration // how long other servers take this one for alive after its last sign of life
	Idle         time.Duration // how long a graph stays open on this server after its last use
	MaxStaleness time.Duration // how long the server goes on answering reads when it cannot reach the storage
	Retention    time.Duration // how long objects that no graph needs any more stay in the storage
}

// Folder returns the folder for the files that only this server uses. It is the data folder, or the
// cache if the storage is shared.
func (c *Config) Folder() string {
	if c.Shared != nil {
		return c.Shared.Cache
	}
	return c.Storage
}

// Graph is one graph of the cluster.
type Graph struct {
	ID     string
	At     diag.Span // the position of ID in cluster.yaml
	Schema string    // path of the .pg file

	// QueryFiles are the .gq files, sorted by path, without duplicates.
	QueryFiles []string

	// Selected maps the names of stored queries to their files if the configuration lists queries
	// by name. Other queries in those files are then not stored queries. Selected is nil if every
	// query of QueryFiles is a stored query.
	Selected map[string]string

	// SelectedAt maps the names of Selected to their places in cluster.yaml.
	SelectedAt map[string]diag.Span

	// Policy is the policy file for the graph, or "".
	Policy string

	// Quota bounds what the graph stores.
	Quota Quota

	// ProposalKeep is how long cleanups keep a merged or closed proposal; 0 for the default.
	ProposalKeep time.Duration
	// DraftKeep is how long a draft stays open without a write, and MaxDrafts the number of open drafts of
	// one actor. 0 means the default.
	DraftKeep time.Duration
	MaxDrafts int

	// Watches are the settings of watches. They take effect when a server serves the next revision.
	Watches Watches

	// Protected are the protected branches, the owners of actors and the filters, if Policy is a .cedar file, which
	// cannot state them.
	Protected protected.Rules

	// Embedding is the provider that computes vectors from texts, or nil.
	Embedding *Embedding

	// MaxRows and MaxBytes bound the results of the graph's tools. A larger result is truncated, or
	// refused if RefuseOversize is set.
	MaxRows        int
	MaxBytes       int
	RefuseOversize bool

	// Source is the absolute path of the folder in which the server looks for the files that a graph of source code was read
	// from, or "".
	Source string

	// OutputSchemas makes tools/list show the schema of each tool's result.
	OutputSchemas bool

	// ObjectRows makes the rows of answers over MCP objects instead of arrays.
	ObjectRows bool

	// Toolsets are the sets of tools that tools/list shows by default; nil means all.
	Toolsets []string

	// FlatArguments makes the tools of stored queries take parameters at the top.
	FlatArguments bool

	// Confirm names the actions that the user of an MCP client must confirm.
	Confirm []string

	// MetaThreshold is a number of stored queries. From this number on, the server offers two tools
	// that find and run queries, instead of one tool for each query.
	MetaThreshold int
}

// Quota bounds what a graph stores. A zero field means no bound of its own.
type Quota struct {
	Bytes    int64 `json:"bytes,omitempty"`    // of stored data; see engine.OpenOptions
	Branches int   `json:"branches,omitempty"` // number of branches; overrides server.limits.branches
}

// The defaults for a graph's tools if cluster.yaml does not set them. DefaultMaxBytes is in bytes.
const (
	DefaultMetaThreshold = 24 // number of stored queries

	DefaultMaxRows  = 5000   // rows of one result
	DefaultMaxBytes = 60_000 // about 15,000 tokens
)

// Server configures the listener.
type Server struct {
	PublicHosts    []string // hosts without port
	BrowserOrigins []string // origins, scheme://host[:port]
	Studio         bool     // serve the studio

	Auth
	Limits Limits // bounds on the load
	Audit  Audit  // the audit trail
}

// IsGraphID reports whether name is a valid id of a graph.
func IsGraphID(name string) bool { return name != reserved && graphID().MatchString(name) }

// Graph returns the graph with that id, or nil if there is none.
func (c *Config) Graph(id string) *Graph {
	for i := range c.Graphs {
		if c.Graphs[i].ID == id {
			return &c.Graphs[i]
		}
	}
	return nil
}

// PolicyGraphs returns the ids of the graphs that a policy file applies to, in file order. The
// rules of that file may refer to the stored queries of any of these graphs.
func (c *Config) PolicyGraphs(file string) []string {
	var ids []string
	for _, g := range c.Graphs {
		if g.Policy == file {
			ids = append(ids, g.ID)
		}
	}
	return ids
}
