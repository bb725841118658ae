package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// MaxSourceName is the maximum length of the name of a source, in bytes.
const MaxSourceName = 64

// CheckSource checks the name of a source: letters a to z and A to Z, digits and _ - . are allowed. The error is a
// *BadArgument.
func CheckSource(name string) error {
	allowed := func(c rune) bool {
		return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	if name == "" || len(name) > MaxSourceName || strings.ContainsFunc(name, func(c rune) bool { return !allowed(c) }) {
		return &BadArgument{Param: "source", Detail: fmt.Sprintf("%q is not the name of a source, which has 1 to %d letters a to z and A to Z, digits, _ - and .", name, MaxSourceName)}
	}
	return nil
}

// DefaultClaim returns the name under which a graph notes what the database claims, unless the load gives another one. It has the last
// two parts of the name of the source, for a database of PostgreSQL its slot and the identifier of its system, so that two databases
// never share one, and nothing that one of them deletes is taken for the other's.
func (c *SourceChanges) DefaultClaim() string {
	parts := strings.Split(c.Source, "/")
	name := parts[len(parts)-1]
	if len(parts) > 1 {
		name += "." + parts[len(parts)-2]
	}
	if CheckSource(name) == nil {
		return name
	}
	sum := sha256.Sum256([]byte(c.Source))
	if name = name[:min(16, len(name))]; CheckSource(name) != nil {
		name = "source"
	}
	return name + "." + hex.EncodeToString(sum[:16])
}

// SyncOptions are the options of a load in the mode Sync, which the other modes do not have. A load in the mode Patch with Changes
// may have a Source: it claims the entities of its lines, and what the source owned before, and a line leaves out, stays.
//
// The load claims the entities of its lines for the source. The source owns the properties that a line has, except those
// that identify the entity: the members of a key, or of a unique constraint with src and dst. What it owned before and a line
// leaves out it lets go: the property becomes null if it can be null and no other source owns it.
//
// An entity of Types that the source claims and that is in no line is let go in the same way, with all its properties. It is
// deleted if a source created it and no source claims it any more. A node with an edge that the load does not delete stays as
// it is, with its claim.
type SyncOptions struct {
	Source string   // name of the source
	Types  []string // node and edge types in which the load lets go of entities that are in no line
	// Yield lists properties as Type.property. If another source owns one of them, this load neither sets nor owns
	// it. Without it, such a line is a fault.
	Yield []string
	// Cascade says that the edges that keep a node are deleted together with the node, except those in the input.
	Cascade bool
	// ApproveDeletes is the number of entities that the load may delete, if it deletes more than a fifth of a
	// type's claimed entities. It must be exactly the number that the load deletes, edges of Cascade included.
	ApproveDeletes int64
}

// IsZero reports whether no option is set.
func (o *SyncOptions) IsZero() bool {
	return o.Source == "" && len(o.Types)+len(o.Yield) == 0 && !o.Cascade && o.ApproveDeletes == 0
}

// Check checks the options of a load for a schema. The error is a *BadArgument.
func (o *LoadOptions) Check(c *catalog.Schema) error {
	bad := func(param, format string, args ...any) error {
		return &BadArgument{Param: param, Detail: fmt.Sprintf(format, args...)}
	}
	if o.Mode == Patch && o.Changes != nil && o.Sync.Source != "" {
		claims := o.Sync
		if claims.Source = ""; !claims.IsZero() || o.NewEdges || o.LastWins {
			return bad("source", "changes of a source that it claims take no further options")
		}
		return CheckSource(o.Sync.Source)
	}
	if o.Mode != Sync {
		if !o.Sync.IsZero() {
			return bad("source", "a source, and what goes with it, is for the mode sync")
		}
		return nil
	}
	switch {
	case o.NewEdges:
		return bad("new_edges", "the mode sync finds each edge again, by its id or by a @unique(src, dst); leave new_edges out")
	case o.LastWins:
		return bad("last_wins", "the mode sync takes each entity from one line; leave last_wins out")
	case o.Sync.ApproveDeletes < 0:
		return bad("approve_deletes", "the number is negative")
	}
	for _, name := range o.Sync.Types {
		if c.Node(name) == nil && c.Edge(name) == nil {
			return bad("types", "the schema has no type %q", name)
		}
	}
	for _, name := range o.Sync.Yield {
		typ, prop, _ := strings.Cut(name, ".")
		has := func(props []*catalog.Property) bool {
			return slices.ContainsFunc(props, func(p *catalog.Property) bool { return p.Name == prop })
		}
		if n, e := c.Node(typ), c.Edge(typ); !(n != nil && has(n.Properties)) && !(e != nil && has(e.Properties)) {
			return bad("yield", "the schema has no property %q; name it as Type.property", name)
		}
	}
	return CheckSource(o.Sync.Source)
}

// SyncResult says what a load in the mode Sync, or another load that claims its lines for a source, did beyond its lines. In the other
// load, the entities are not those in no line, but those of the lines with the member "delete".
type SyncResult struct {
	Overwritten int64 // values of the source that others had changed, and that the load set back to those of the line
	Released    int64 // entities in no line that the source let go and that stay
	Deleted     int64 // entities in no line that were deleted
	Cascaded    int64 // edges that were deleted together with their nodes
	Kept        int64 // nodes in no line that stay because of their edges
	// KeptFirst are the first ones, at most MaxKept, in order of type and id.
	KeptFirst []ChangePosition
}

// MaxKept is the maximum length of SyncResult.KeptFirst.
const MaxKept = 20

// Guard refuses too many deletes. The map `claimed` counts, by type, the entities that the source claimed before, or that no
// source claimed, and `deleted` the deleted ones of these. The number `all` is that of all deletes.
func (o *SyncOptions) Guard(claimed, deleted map[string]int64, all int64) error {
	if o.ApproveDeletes == all {
		return nil
	}
	var types []string
	for typ, n := range deleted {
		if n*5 > claimed[typ] {
			types = append(types, fmt.Sprintf("%d of %d %s", n, claimed[typ], typ))
		}
	}
	if types == nil {
		return nil
	}
	slices.Sort(types)
	entities := fmt.Sprintf("%d entities", all)
	if all == 1 {
		entities = "1 entity"
	}
	return &Conflict{Reason: fmt.Sprintf("the sync would delete %s (%s); more than a fifth of a type needs approval: check that the input is complete, then repeat it with approve_deletes %d",
		entities, strings.Join(types, ", "), all)}
}
