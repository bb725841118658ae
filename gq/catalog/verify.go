package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// verify checks the invariants that users of a schema rely on: no list has a nil element, names
// are unique, and every name in a constraint or endpoint exists. Schemas from package resolve
// always pass; a decoded schema may be corrupt.
func (s *Schema) verify() error {
	interfaces, nodes, edges := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, i := range s.Interfaces {
		if i == nil {
			return fmt.Errorf("an interface is null")
		}
		interfaces[i.Name] = true
		if _, err := verifyProperties("interface "+i.Name, i.Properties); err != nil {
			return err
		}
	}
	for _, n := range s.Nodes {
		if n == nil || nodes[n.Name] {
			return fmt.Errorf("a node type has an empty or repeated name")
		}
		nodes[n.Name] = true
		if err := n.verify(); err != nil {
			return err
		}
	}
	for _, e := range s.Edges {
		if e == nil || edges[strings.ToLower(e.Name)] {
			return fmt.Errorf("an edge type has an empty or repeated name")
		}
		edges[strings.ToLower(e.Name)] = true
		for _, to := range []bool{false, true} {
			switch name, isInterface := e.End(to); {
			case isInterface && !interfaces[name]:
				return fmt.Errorf("edge %s has %q at an end, which is not an interface", e.Name, name)
			case !isInterface && !nodes[name]:
				return fmt.Errorf("edge %s has %q at an end, which is not a node type", e.Name, name)
			}
		}
		names, err := verifyProperties("edge "+e.Name, e.Properties)
		if err != nil {
			return err
		}
		names["src"], names["dst"] = true, true
		if err := verifyNames("edge "+e.Name, names, append(slices.Clone(e.Unique), e.Index...)); err != nil {
			return err
		}
		if err := verifyValid("edge "+e.Name, e.Valid, e.Properties); err != nil {
			return err
		}
	}
	return nil
}

// verifyValid returns an error if @valid names properties that it cannot have.
func verifyValid(where string, v *Validity, props []*Property) error {
	if v == nil {
		return nil
	}
	names := byName(props)
	since, until := names[v.Since], names[v.Until]
	if since == nil || until == nil || !v.Fits(since.Type, until.Type) {
		return fmt.Errorf("%s has @valid(%s, %s), which needs two properties of the type Date or DateTime, the second one nullable", where, v.Since, v.Until)
	}
	return nil
}

// verify returns an error if a property or constraint of the type is not valid.
func (n *Node) verify() error {
	where := "node " + n.Name
	names, err := verifyProperties(where, n.Properties)
	if err != nil {
		return err
	}
	lists := slices.Concat(n.Unique, n.Index, [][]string{n.Key})
	for _, r := range n.Ranges {
		lists = append(lists, []string{r.Property})
	}
	for _, c := range n.Checks {
		lists = append(lists, []string{c.Property})
	}
	if len(n.KeyOrder) > 0 && !slices.Equal(slices.Sorted(slices.Values(n.KeyOrder)), n.Key) {
		return fmt.Errorf("%s has a key of other members than the order of its key", where)
	}
	if err := verifyValid(where, n.Valid, n.Properties); err != nil {
		return err
	}
	return verifyNames(where, names, lists)
}

// verifyProperties checks properties and returns the set of their names. The parameter `where`
// identifies the type in errors.
func verifyProperties(where string, props []*Property) (map[string]bool, error) {
	names := make(map[string]bool, len(props))
	for _, p := range props {
		switch {
		case p == nil || names[p.Name]:
			return nil, fmt.Errorf("%s has a property with an empty or repeated name", where)
		case !p.Type.Kind.IsKind(), p.Type.Kind == value.Vector && p.Type.Dim < 1:
			return nil, fmt.Errorf("%s has a property %s without a valid type", where, p.Name)
		case p.Approximate && (p.Type.Kind != value.Vector || p.Type.List):
			return nil, fmt.Errorf("%s has a property %s with an approximate index, but it is %s and not a Vector", where, p.Name, p.Type)
		case p.Default != nil && (p.Default.Kind() != p.Type.Kind || p.Default.IsList() != p.Type.List):
			return nil, fmt.Errorf("%s has a property %s of type %s with a default of type %s", where, p.Name, p.Type, p.Default.Type())
		}
		names[p.Name] = true
	}
	return names, nil
}

// verifyNames returns an error if a list contains a name that is not in the set `names`.
func verifyNames(where string, names map[string]bool, lists [][]string) error {
	for _, list := range lists {
		for _, name := range list {
			if !names[name] {
				return fmt.Errorf("%s has a constraint on %q, which is not a property", where, name)
			}
		}
	}
	return nil
}
