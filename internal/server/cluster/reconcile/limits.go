package reconcile

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// GraphLimits are the limits of a graph in a revision. A zero field means its default.
type GraphLimits struct {
	MaxRows        int           `json:"max_rows,omitempty"`
	MaxBytes       int           `json:"max_bytes,omitempty"`
	RefuseOversize bool          `json:"refuse_oversize,omitempty"`
	DraftKeep      time.Duration `json:"draft_keep_ns,omitempty"`
	MaxDrafts      int           `json:"max_drafts,omitempty"`

	Quota cluster.Quota `json:"quota"` // takes effect at the start of a server
}

// limitsOf returns the limits of a graph of a configuration, or nil if it has no such graph.
func limitsOf(g *cluster.Graph) *GraphLimits {
	if g == nil {
		return nil
	}
	return &GraphLimits{MaxRows: g.MaxRows, MaxBytes: g.MaxBytes, RefuseOversize: g.RefuseOversize, DraftKeep: g.DraftKeep, MaxDrafts: g.MaxDrafts, Quota: g.Quota}
}

// Limit sets the limits of a configuration to those of the revision, which may be nil, except the ones that take effect at the start of
// a server: these stay as the server's own cluster.yaml has them. A revision of an earlier format has no limits, and changes nothing.
// Limit reports whether it changed a limit.
func (r *Revision) Limit(c *cluster.Config) (changed bool) {
	if r == nil || r.Limits == nil {
		return false
	}
	own := c.Server.Limits
	c.Server.Limits = *r.Limits
	l := &c.Server.Limits
	l.MemoryBytes, l.QueryBytes, l.Branches = own.MemoryBytes, own.QueryBytes, own.Branches
	changed = *l != own
	for i := range c.Graphs {
		at := &c.Graphs[i]
		if g := r.Graph(at.ID); g != nil && g.Limits != nil {
			was, is := *limitsOf(at), *g.Limits
			was.Quota, is.Quota = cluster.Quota{}, cluster.Quota{}
			changed = changed || was != is
			at.MaxRows, at.MaxBytes, at.RefuseOversize, at.DraftKeep, at.MaxDrafts = g.Limits.MaxRows, g.Limits.MaxBytes, g.Limits.RefuseOversize, g.Limits.DraftKeep, g.Limits.MaxDrafts
		}
	}
	return changed
}

// limitsAgain returns the limits of the server for a revision that makes an earlier one the next: those of the earlier one, except the ones
// that servers take from cluster.yaml, which the revision in force has. Either may be nil.
func limitsAgain(earlier, now *cluster.Limits) *cluster.Limits {
	if earlier == nil || now == nil {
		return cmp.Or(earlier, now)
	}
	l := *earlier
	l.MemoryBytes, l.QueryBytes, l.Branches = now.MemoryBytes, now.QueryBytes, now.Branches
	return &l
}

// NeedStart lists the limits, as cluster.yaml names them, that differ from those of an earlier revision, which may be nil, and that
// servers take from cluster.yaml when they start.
func (r *Revision) NeedStart(before *Revision) (names []string) {
	if before == nil || before.Limits == nil || r == nil || r.Limits == nil {
		return nil
	}
	a, b := before.Limits, r.Limits
	for _, l := range []struct {
		name    string
		differs bool
	}{{"server.limits.memory_bytes", a.MemoryBytes != b.MemoryBytes}, {"server.limits.query_bytes", a.QueryBytes != b.QueryBytes}, {"server.limits.branches", a.Branches != b.Branches},
		{"server.limits.load_bytes for uploads in pieces", a.LoadBytes != b.LoadBytes}} {
		if l.differs {
			names = append(names, l.name)
		}
	}
	for _, g := range r.Graphs {
		if was := before.Graph(g.ID); was != nil && was.Limits != nil && g.Limits != nil && was.Limits.Quota != g.Limits.Quota {
			names = append(names, "graphs."+g.ID+".quota")
		}
	}
	return names
}

// limitsDigest returns the digest of limits of a revision: a *cluster.Limits or a *GraphLimits.
func limitsDigest(limits any) string {
	text, err := json.Marshal(limits)
	if err != nil {
		panic("reconcile: encode limits: " + err.Error()) // structs of numbers
	}
	return digest(text)
}
