// Package cluster reads cluster.yaml: which graphs a server serves, from which
// sources, under which policies.
package cluster

import (
	"github.com/omnigraph-go/omnigraph/gq/diag"
)

// Config is a cluster.yaml that was read without faults. Paths in it are the file's
// own, joined to the folder that it stands in.
type Config struct {
	File    string // as it was given to Read
	Name    string // of the cluster, or ""
	Storage string // the data folder; it need not exist
	Graphs  []Graph
	Server  Server

	// ServerPolicy is the policy file that applies to the server itself, or "".
	ServerPolicy string

	// Notes are remarks about the file that stop nothing.
	Notes diag.List
}

// Graph is one graph of the cluster.
type Graph struct {
	ID     string
	Schema string // the .pg file

	// QueryFiles are the .gq files, sorted by path, each once.
	QueryFiles []string

	// Selected maps a stored query's name to its file when the configuration lists
	// queries by name: then the others in those files are not stored queries. It is
	// nil when every query of QueryFiles is one.
	Selected map[string]string

	// Policy is the policy file that applies to the graph, or "".
	Policy string

	// Embedding computes the vectors of texts, or is nil.
	Embedding *Embedding

	// Results of the graph's tools are cut past these, or refused.
	MaxRows        int
	MaxBytes       int
	RefuseOversize bool

	// MetaThreshold is the number of stored queries from which on they are found and run
	// by a pair of tools, instead of each being one.
	MetaThreshold int
}

// What cluster.yaml says of a graph's tools where it says nothing.
const (
	DefaultMetaThreshold = 24

	DefaultMaxRows  = 5000
	DefaultMaxBytes = 1 << 20
)

// Server is what concerns the listener.
type Server struct {
	PublicHosts    []string // without port
	BrowserOrigins []string // scheme://host[:port]

	// OIDC is the issuer whose tokens are taken beside static ones, or nil.
	OIDC *OIDC

	Limits Limits
}

// IsGraphID reports whether a graph may be called name.
func IsGraphID(name string) bool { return name != reserved && graphID.MatchString(name) }

// Graph returns the graph of that id, nil if there is none.
func (c *Config) Graph(id string) *Graph {
	for i := range c.Graphs {
		if c.Graphs[i].ID == id {
			return &c.Graphs[i]
		}
	}
	return nil
}

// PolicyGraphs are the graphs that a policy file applies to, in file order: rules of
// that file may name the stored queries of any of them.
func (c *Config) PolicyGraphs(file string) []string {
	var ids []string
	for _, g := range c.Graphs {
		if g.Policy == file {
			ids = append(ids, g.ID)
		}
	}
	return ids
}
