package evaluation

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// object is a JSON object.
type object = map[string]any

// Example is a correct call.
type Example struct {
	Args  object   // the arguments
	Names []string // names of types, properties, branches and keywords in Args that a caller may misspell
}

// State holds the names in a graph that example calls need.
type State struct {
	Schema   *catalog.Schema
	Head     string // id of the last commit of main
	Proposal string // id of a proposal with a conflict; "" if there is none
}

// The branches of the graph that example calls need.
const (
	DraftBranch   = "trial/sample"    // has no changes
	ClashBranch   = "trial/clash"     // has a change that conflicts with one on main
	ProposeBranch = "trial/unclaimed" // no proposal is about it
)

// Clash returns the node type and the property of the conflict on [ClashBranch]. The type is nil if the
// schema has no suitable one.
func Clash(s *catalog.Schema) (*catalog.Node, string) {
	for _, n := range s.Nodes {
		checked := func(name string) bool {
			return slices.ContainsFunc(n.Checks, func(c catalog.Check) bool { return c.Property == name })
		}
		if KeyOf(n) == "" || checked(KeyOf(n)) {
			continue
		}
		for _, p := range n.Properties {
			ruled := checked(p.Name) || slices.ContainsFunc(n.Unique, func(u []string) bool { return slices.Contains(u, p.Name) })
			if p.Name != KeyOf(n) && p.Type.Enum == nil && !p.Type.List && p.Type.Kind.String() == "String" && p.Embed == nil && !ruled {
				return n, p.Name
			}
		}
	}
	return nil, ""
}

// builtinExample returns the example call of a built-in tool. It returns nil if there is none, because
// the tool is unknown or the schema is too small for it.
func (s *State) builtinExample(tool string) *Example {
	n, prop := Clash(s.Schema)
	if n == nil {
		return nil
	}
	key := KeyOf(n)
	read := "query example($key: String) {\n  match {\n    $x: " + n.Name + " { " + key + ": $key }\n  }\n  return { $x." + key + ", $x." + prop + " }\n  limit 5\n}"
	write := "query example($key: String) {\n  delete " + n.Name + " where " + key + " = $key\n}"
	readNames := []string{"match", "return", "limit", n.Name, prop}
	params := object{"key": SampleKey(0)}
	switch tool {
	case "graph_health", "schema_get":
		return &Example{Args: object{}}
	case "gq_reference":
		return &Example{Args: object{"topic": "traversal"}, Names: []string{"traversal"}}
	case "type_describe":
		return &Example{Args: object{"name": n.Name}, Names: []string{n.Name}}
	case "type_path":
		from, to := n.Name, n.Name
		if i := slices.IndexFunc(s.Schema.Edges, func(e *catalog.Edge) bool { return !e.HasInterfaceEnd() }); i >= 0 {
			from, to = s.Schema.Edges[i].From, s.Schema.Edges[i].To
		}
		return &Example{Args: object{"from": from, "to": to, "max_hops": 3, "limit": 5}, Names: []string{from, to}}
	case "query_validate":
		return &Example{Args: object{"query": read, "branch": "main"}, Names: []string{"main"}}
	case "query_explain":
		return &Example{Args: object{"query": read, "name": "example", "params": params, "analyze": true}, Names: append(readNames, "example")}
	case "graph_query":
		return &Example{Args: object{"query": read, "params": params}, Names: readNames}
	case "graph_snapshot":
		return &Example{Args: object{"branch": "main"}, Names: []string{"main"}}
	case "branch_list":
		return &Example{Args: object{"limit": 10}}
	case "commit_list":
		return &Example{Args: object{"branch": "main", "limit": 10}, Names: []string{"main"}}
	case "commit_get":
		return &Example{Args: object{"commit": s.Head, "branch": "main"}, Names: []string{"main"}}
	case "change_list":
		return &Example{Args: object{"commit": s.Head, "limit": 10, "branch": "main"}, Names: []string{"main"}}
	case "graph_mutate":
		return &Example{Args: object{"query": write, "params": object{"key": SampleKey(sampleSize - 1)}, "dry_run": true}, Names: []string{"delete", "where", n.Name, key}}
	case "graph_load":
		return &Example{Args: object{"data": strings.SplitAfter(nodeLines(n), "\n")[0], "mode": "merge", "dry_run": true, "branch": "main"}, Names: []string{n.Name, prop, "main"}}
	case "branch_create":
		return &Example{Args: object{"name": "review/june", "from": "main"}, Names: []string{"main"}}
	case "branch_delete":
		return &Example{Args: object{"name": DraftBranch}, Names: []string{DraftBranch}}
	case "branch_merge":
		return &Example{Args: object{"source": DraftBranch, "target": "main", "dry_run": true}, Names: []string{DraftBranch, "main"}}
	case "proposal_submit":
		return &Example{Args: object{"source": ProposeBranch, "title": "Correct a sample"}, Names: []string{ProposeBranch}}
	case "proposal_get":
		return &Example{Args: object{"state": "open", "limit": 10}}
	case "proposal_resolve":
		if s.Proposal == "" {
			return nil
		}
		return &Example{Args: object{"proposal": s.Proposal, "resolutions": []any{object{
			"entity_kind": "node", "type_name": n.Name, "id": SampleKey(0), "property": prop, "take": "theirs",
		}}}, Names: []string{n.Name, prop}}
	}
	return nil
}

// storedExample returns the example call of a tool with an input schema: all parameters that are
// required, and the optional ones that have a value of their own in the schema.
func storedExample(schema *schema) *Example {
	e := &Example{Args: object{"branch": "main"}, Names: []string{"main"}}
	params := schema.Properties["params"]
	if params == nil || len(params.Properties) == 0 {
		return e
	}
	values := object{}
	for name, p := range params.Properties {
		if v, own := p.value(); own || slices.Contains(params.Required, name) {
			values[name] = v
		}
	}
	if len(values) > 0 {
		e.Args["params"] = values
	}
	return e
}

// schema is the part of a JSON Schema that examples, breakages and repairs use.
type schema struct {
	Type       any                `json:"type"` // a string or a list of strings
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Enum       []any              `json:"enum"`
	Examples   []any              `json:"examples"`
	Default    any                `json:"default"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	Pattern    string             `json:"pattern"`
	Format     string             `json:"format"`
}

// parseSchema reads the input schema of a tool.
func parseSchema(text json.RawMessage) (*schema, error) {
	s := &schema{}
	err := json.Unmarshal(text, s)
	return s, err
}

// kind returns the first type of the schema that is not null.
func (s *schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, x := range t {
			if x != "null" {
				return x.(string)
			}
		}
	}
	return ""
}

// value returns a value that the schema accepts, and whether the schema itself names it or bounds it.
func (s *schema) value() (v any, own bool) {
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0], true
	case len(s.Enum) > 0:
		return s.Enum[0], true
	case s.Default != nil:
		return s.Default, true
	}
	switch s.kind() {
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum, s.Maximum != nil
		}
		return 1.0, false
	case "boolean":
		return true, false
	case "array":
		v, _ := s.Items.value()
		return []any{v}, false
	case "object":
		o := object{}
		for _, name := range s.Required {
			o[name], _ = s.Properties[name].value()
		}
		return o, false
	}
	switch s.Format {
	case "date":
		return strings.Trim(value.Date.Example(), `"`), false
	case "date-time":
		return strings.Trim(value.DateTime.Example(), `"`), false
	}
	return SampleKey(0), false
}
