package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// swap gives some properties of a type, or some types, the names of each other.
func (d *drawer) swap(s *catalog.Schema) {
	switch d.rare.IntN(4) {
	case 0:
		names := d.exchange(nodeNames(s.Nodes))
		for _, n := range s.Nodes {
			if now, ok := names[n.Name]; ok {
				n.Name, n.RenameFrom = now, n.Name
			}
		}
		for _, e := range s.Edges {
			if now, ok := names[e.From]; ok && !e.FromInterface {
				e.From = now
			}
			if now, ok := names[e.To]; ok && !e.ToInterface {
				e.To = now
			}
		}
	case 1:
		var all []string
		for _, e := range s.Edges {
			all = append(all, e.Name)
		}
		names := d.exchange(all)
		for _, e := range s.Edges {
			if now, ok := names[e.Name]; ok {
				e.Name, e.RenameFrom = now, e.Name
			}
		}
	case 2:
		if len(s.Edges) > 0 {
			e := pick(d.rare, s.Edges)
			d.swapProperties(e.Properties, nil, e.Unique)
		}
	default:
		n := pick(d.rare, s.Nodes)
		names := d.swapProperties(n.Properties, append(shared(s, n), n.Key...), append(slices.Clone(n.Unique), n.Index...))
		for i := range n.Ranges {
			if now, ok := names[n.Ranges[i].Property]; ok {
				n.Ranges[i].Property = now
			}
		}
		for i := range n.Checks {
			if now, ok := names[n.Checks[i].Property]; ok {
				n.Checks[i].Property = now
			}
		}
	}
	s.Index()
}

// shared lists the properties that a node type must have because of its interfaces.
func shared(s *catalog.Schema, n *catalog.Node) (names []string) {
	for _, name := range n.Implements {
		for _, p := range s.Interface(name).Properties {
			names = append(names, p.Name)
		}
	}
	return names
}

// swapProperties gives properties the names of each other, except those of `keep`, also in lists of names. It returns
// the new name of each.
func (d *drawer) swapProperties(props []*catalog.Property, keep []string, lists [][]string) map[string]string {
	var all []string
	for _, p := range props {
		if !slices.Contains(keep, p.Name) && p.Embed == nil {
			all = append(all, p.Name)
		}
	}
	names := d.exchange(all)
	for _, p := range props {
		if now, ok := names[p.Name]; ok {
			p.Name, p.RenameFrom = now, p.Name
		}
		if p.Embed != nil && names[p.Embed.Source] != "" {
			p.Embed.Source = names[p.Embed.Source]
		}
	}
	for _, list := range lists {
		for i, name := range list {
			if now, ok := names[name]; ok {
				list[i] = now
			}
		}
	}
	return names
}

// exchange draws two or three of the names and maps them to each other in a cycle. In one of three draws the last one
// gets a new name instead, so that the renames are a chain.
func (d *drawer) exchange(all []string) map[string]string {
	if len(all) < 2 {
		return nil
	}
	all = slices.Clone(all)
	d.rare.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), 2+d.rare.IntN(2))]
	names := map[string]string{}
	for i, name := range all {
		names[name] = all[(i+1)%len(all)]
	}
	if d.rare.IntN(3) == 0 {
		names[all[len(all)-1]] = d.fresh("Swap")
	}
	return names
}

// nodeNames returns the names of node types.
func nodeNames(nodes []*catalog.Node) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}
