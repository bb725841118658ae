package catalog

import (
	"encoding/json"
	"slices"
	"strings"
)

// Rules lists the rules of the node type in the notation of a schema, without the rules that the
// types of its properties express. The key is first.
func (n *Node) Rules() []string {
	var rules []string
	if len(n.Key) > 0 {
		rules = append(rules, spellKey(n.DeclaredKey()))
	}
	for _, u := range n.Unique {
		rules = append(rules, spell(Unique(u)))
	}
	for _, i := range n.Index {
		rules = append(rules, spell(Index(i)))
	}
	for _, r := range n.Ranges {
		rules = append(rules, spell(r))
	}
	for _, c := range n.Checks {
		rules = append(rules, spell(c))
	}
	for _, v := range validities(n.Valid, nil) {
		rules = append(rules, spell(v))
	}
	return append(rules, defaultRules(n.Properties)...)
}

// defaultRules lists the defaults of properties in the manner of the rules in the body of a type.
func defaultRules(props []*Property) (rules []string) {
	for _, p := range props {
		if p.Default != nil {
			rules = append(rules, "@default("+p.Name+", "+p.Default.String()+")")
		}
	}
	return rules
}

// Rules lists the rules of the edge type in the notation of a schema, without the rules that the
// types of its properties express.
func (e *Edge) Rules() []string {
	var rules []string
	for _, c := range cards(e.Card) {
		rules = append(rules, c.String())
	}
	for _, u := range e.Unique {
		rules = append(rules, spell(Unique(u)))
	}
	for _, i := range e.Index {
		rules = append(rules, spell(Index(i)))
	}
	for _, v := range validities(e.Valid, nil) {
		rules = append(rules, spell(v))
	}
	return append(rules, defaultRules(e.Properties)...)
}

// IDForm describes the form of the ids of a type with a composite key if `id` does not have that
// form. Otherwise it returns "".
func (n *Node) IDForm(id string) string {
	if len(n.Key) < 2 {
		return ""
	}
	var members []string
	if err := json.Unmarshal([]byte(id), &members); err == nil && len(members) == len(n.Key) {
		return ""
	}
	names := make([]string, len(n.Key))
	for i, k := range slices.Sorted(slices.Values(n.Key)) {
		names[i] = `"<` + k + `>"`
	}
	return "the id of a " + n.Name + " is a JSON array of strings, [" + strings.Join(names, ",") + "], with the values of its key"
}
