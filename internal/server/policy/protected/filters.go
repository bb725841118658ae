package protected

import (
	"regexp"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Filter is a condition on the entities of a type. Rules name filters to allow or deny a part of the entities.
type Filter struct {
	Name  string
	Type  string // name of a node type, an edge type or an interface
	Where string // a condition of the query language over $it

	At      *strictyaml.Node // the place of the name
	TypeAt  *strictyaml.Node // the place of Type
	WhereAt *strictyaml.Node // the place of Where
}

// FilterPattern matches the names of filters.
const FilterPattern = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`

// filterLimits says what FilterPattern matches.
const filterLimits = "at most 64 letters, digits and _ . -, of which the first is a letter or a digit"

// filterSetting describes one filter.
var filterSetting = &strictyaml.Setting{
	Type: strictyaml.Mapping, Example: `{ type: Case, where: '$it.team = "north"' }`, Text: "This is a filter.",
	Keys: []*strictyaml.Setting{
		{Key: "type", Required: true, Example: "Case", Limits: "a node type, an edge type or an interface of the schema", Text: "The filter is about the entities of this type."},
		{Key: "where", Required: true, Example: `'$it.team = "north"'`, Limits: "a condition of the query language over $it, without parameters, now() and searches",
			Text: "The filter is the entities for which this condition holds; a comparison with a missing value hides the entity, in allow and in deny."},
	},
}

// FiltersSetting describes the filters that rules may name.
var FiltersSetting = &strictyaml.Setting{Key: "filters", Type: strictyaml.Map, Default: "no filters", Pattern: FilterPattern, Example: `{ north: { type: Case, where: '$it.team = "north"' } }`,
	Each: filterSetting, Limits: "a name is " + filterLimits, Text: "Each entry is a condition on the entities of a type. A rule with rows names one.",
}

// filterName matches the names of filters.
var filterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(FilterPattern) })

// parseFilters reads filters and reports faults of their structure.
func parseFilters(n *strictyaml.Node) []Filter {
	entries, _ := n.Entries(FiltersSetting.Key)
	var all []Filter
	for _, e := range entries {
		if !filterName().MatchString(e.Key) {
			e.At.Fault(strictyaml.BadValue, "a filter's name must be "+filterLimits, "choose another name")
		}
		f := Filter{Name: e.Key, At: e.At}
		keys, ok := e.Value.Mapping("filter "+e.Key, filterSetting)
		if !ok {
			continue
		}
		f.TypeAt, f.WhereAt = e.At.Require(keys, "type", "filter "+e.Key), e.At.Require(keys, "where", "filter "+e.Key)
		f.Type, _ = f.TypeAt.Text("type")
		f.Where, _ = f.WhereAt.Text("where")
		all = append(all, f)
	}
	return all
}
