package catalog

// Rules lists the rules of the node type that the types of its properties do not express, as a
// schema writes them. The key is first.
func (n *Node) Rules() []string {
	var rules []string
	if len(n.Key) > 0 {
		rules = append(rules, spellKey(n.Key))
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
	return rules
}

// Rules lists the rules of the edge type that the types of its properties do not express, as a
// schema writes them.
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
	return rules
}
