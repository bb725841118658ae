package servedgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The sets of tools. A set decides what is listed, and not what may be called.
const (
	readSet   = "read"
	writeSet  = "write"
	reviewSet = "review"
	adminSet  = "admin"
	watchSet  = "watch" // listed only to a client that asks for it
)

// Toolsets lists the names of the sets.
var Toolsets = []string{readSet, writeSet, reviewSet, adminSet, watchSet}

// setOf has the sets of the tools that are in neither read nor write by their hints.
var setOf = map[string]string{
	"change_list":      reviewSet,
	"commit_get":       reviewSet,
	"commit_list":      reviewSet,
	"proposal_get":     reviewSet,
	"proposal_resolve": reviewSet,

	"code_index":     adminSet,
	"graph_health":   adminSet,
	"graph_snapshot": adminSet,
	"schema_apply":   adminSet,
	"schema_get":     adminSet,

	"graph_watch": watchSet,
}

// ParseToolsets reads names of sets that are separated by commas. No name means every set.
func ParseToolsets(text string) (sets []string, err error) {
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case !slices.Contains(Toolsets, name):
			return nil, fmt.Errorf("there is no set of tools %q; expected some of %s, separated by commas", name, strings.Join(Toolsets, ", "))
		default:
			sets = append(sets, name)
		}
	}
	return sets, nil
}

// InToolsets reports whether a tool is in one of the sets. Without sets, it reports whether the tool is in any but watch.
func InToolsets(d *tool.Descriptor, sets []string) bool {
	set := setOf[d.Name]
	switch {
	case len(sets) == 0:
		return set != watchSet
	case set != "":
	case d.Name == metatools.ListQueries || d.Name == metatools.RunQuery: // run reads as well as mutations
		return slices.Contains(sets, readSet) || slices.Contains(sets, writeSet)
	case d.ReadOnly:
		set = readSet
	default:
		set = writeSet
	}
	return slices.Contains(sets, set)
}

// Toolsets returns the sets whose tools are listed to clients that ask for no sets; nil means all.
func (g *Graph) Toolsets() []string { return g.toolsets }
