package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// checkApplied applies the steps of a migration to the schema `from`, and fails the test unless the
// result is the schema `to`.
func checkApplied(t *testing.T, from, to *catalog.Schema, m *catalog.Migration) {
	t.Helper()
	got, err := apply(from, m)
	if err != nil {
		t.Fatalf("%v\n%s", err, m)
	}
	if catalog.Digest(got) != catalog.Digest(to) {
		t.Errorf("the steps lead to another schema:\n%sgot  %s\nwant %s", m, catalog.Encode(got), catalog.Encode(to))
	}
}

// apply carries out each step by its documented meaning alone. It shares no code with Diff,
// which found the steps.
func apply(from *catalog.Schema, m *catalog.Migration) (*catalog.Schema, error) {
	s, err := catalog.Decode(catalog.Encode(from))
	if err != nil {
		return nil, err
	}
	steps := m.Steps
	for len(steps) > 0 {
		n := renames(steps)
		for _, step := range aside(steps[:max(n, 1)], n > 0) {
			if err := applyStep(s, step); err != nil {
				return nil, fmt.Errorf("%s: %w", step, err)
			}
			s.Index()
		}
		steps = steps[max(n, 1):]
	}
	return catalog.Decode(catalog.Encode(s))
}

// renames counts the steps at the start of a list that take place at once: the renames of types of one kind, or of
// properties of one type.
func renames(steps []catalog.Step) int {
	n := 0
	for n < len(steps) && slices.Contains([]catalog.StepCode{catalog.RenameNode, catalog.RenameEdge, catalog.RenameProperty}, steps[n].Code) &&
		steps[n].Code == steps[0].Code && (steps[n].Code != catalog.RenameProperty || steps[n].Type == steps[0].Type && steps[n].Kind == steps[0].Kind) {
		n++
	}
	return n
}

// aside returns renames that have the effect of the given ones at once: the first half gives every member a name that
// nothing has.
func aside(steps []catalog.Step, renames bool) (all []catalog.Step) {
	if !renames || len(steps) < 2 {
		return steps
	}
	for i, step := range steps {
		away := step
		if step.Property != "" {
			away.Property = fmt.Sprint("aside", i)
		} else {
			away.Type = fmt.Sprint("aside", i)
		}
		all = append(all, away)
	}
	for i, step := range steps {
		step.Was = fmt.Sprint("aside", i) + "\x00" + step.Was
		all = append(all, step)
	}
	return all
}

// renamedFrom splits the old name in a step into the present name of the member and the name that it had first.
func renamedFrom(step catalog.Step) (now, first string) {
	now, first, later := strings.Cut(step.Was, "\x00")
	if !later {
		first = now
	}
	return now, first
}

func applyStep(s *catalog.Schema, step catalog.Step) error {
	switch step.Kind {
	case catalog.InterfaceType:
		return applyInterface(s, step)
	case catalog.NodeType:
		return applyNode(s, step)
	case catalog.EdgeType:
		return applyEdge(s, step)
	}
	return fmt.Errorf("kind %q", step.Kind)
}

func find[T any](list []T, name string, of func(T) string) (int, error) {
	for i, x := range list {
		if of(x) == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no %s", name)
}

func insert[T any](list []T, at int, x T) ([]T, error) {
	if at > len(list) {
		return nil, fmt.Errorf("place %d of %d", at, len(list))
	}
	return slices.Insert(list, at, x), nil
}

// remove deletes the last element with the given name.
func remove[T any](list []T, name string, of func(T) string) ([]T, error) {
	for i := len(list) - 1; i >= 0; i-- {
		if of(list[i]) == name {
			return slices.Delete(list, i, i+1), nil
		}
	}
	return nil, fmt.Errorf("no %s", name)
}

func reorder[T any](list []T, order []string, of func(T) string) error {
	if len(order) != len(list) {
		return fmt.Errorf("an order of %d for %d", len(order), len(list))
	}
	rest := slices.Clone(list)
	for i, name := range order {
		at, err := find(rest, name, of)
		if err != nil {
			return err
		}
		list[i] = rest[at]
		rest = slices.Delete(rest, at, at+1)
	}
	return nil
}

func interfaceName(i *catalog.Interface) string { return i.Name }
func nodeName(n *catalog.Node) string           { return n.Name }
func edgeName(e *catalog.Edge) string           { return e.Name }
func propertyName(p *catalog.Property) string   { return p.Name }

func applyInterface(s *catalog.Schema, step catalog.Step) (err error) {
	switch step.Code {
	case catalog.AddInterface:
		s.Interfaces, err = insert(s.Interfaces, step.At, step.Element.(*catalog.Interface))
	case catalog.DropInterface:
		s.Interfaces, err = remove(s.Interfaces, step.Type, interfaceName)
	case catalog.Reorder:
		err = reorder(s.Interfaces, step.Order, interfaceName)
	case catalog.ChangeInterface:
		var i int
		if i, err = find(s.Interfaces, step.Type, interfaceName); err == nil {
			s.Interfaces[i] = step.Element.(*catalog.Interface)
		}
	default:
		err = fmt.Errorf("code")
	}
	return err
}

func applyNode(s *catalog.Schema, step catalog.Step) (err error) {
	switch {
	case step.Code == catalog.AddNode:
		n := *step.Element.(*catalog.Node)
		s.Nodes, err = insert(s.Nodes, step.At, &n)
		return err
	case step.Code == catalog.DropNode:
		s.Nodes, err = remove(s.Nodes, step.Type, nodeName)
		return err
	case step.Code == catalog.Reorder && step.Type == "":
		return reorder(s.Nodes, step.Order, nodeName)
	case step.Code == catalog.RenameNode:
		was, first := renamedFrom(step)
		i, err := find(s.Nodes, was, nodeName)
		if err != nil {
			return err
		}
		s.Nodes[i].Name, s.Nodes[i].RenameFrom = step.Type, first
		for _, e := range s.Edges {
			if e.From == was {
				e.From = step.Type
			}
			if e.To == was {
				e.To = step.Type
			}
		}
		return nil
	}
	i, err := find(s.Nodes, step.Type, nodeName)
	if err != nil {
		return err
	}
	n := s.Nodes[i]
	switch {
	case step.Code == catalog.Implement:
		n.Implements = step.Element.(catalog.Implements)
	case step.Code == catalog.Annotate && step.Property == "":
		notes := step.Element.(catalog.Notes)
		n.Description, n.RenameFrom, n.Annotations = notes.Description, notes.RenameFrom, notes.Annotations
	case step.List == "key":
		n.KeyOrder = nil
		if !slices.Equal(step.Order, n.Key) {
			n.KeyOrder = step.Order
		}
	case step.Property != "" || step.List == "properties":
		if step.Code == catalog.RenameProperty {
			rename(n.Key, step)
			rename(n.KeyOrder, step)
			was, _ := renamedFrom(step)
			for i := range n.Ranges {
				if n.Ranges[i].Property == was {
					n.Ranges[i].Property = step.Property
				}
			}
			for i := range n.Checks {
				if n.Checks[i].Property == was {
					n.Checks[i].Property = step.Property
				}
			}
			for _, l := range append(slices.Clone(n.Unique), n.Index...) {
				rename(l, step)
			}
		}
		n.Properties, err = applyProperty(n.Properties, step)
	default:
		err = applyConstraint(step, &n.Unique, &n.Index, &n.Ranges, &n.Checks, nil)
	}
	return err
}

func rename(names []string, step catalog.Step) {
	was, _ := renamedFrom(step)
	for i, name := range names {
		if name == was {
			names[i] = step.Property
		}
	}
}

func applyEdge(s *catalog.Schema, step catalog.Step) (err error) {
	switch {
	case step.Code == catalog.AddEdge:
		e := *step.Element.(*catalog.Edge)
		s.Edges, err = insert(s.Edges, step.At, &e)
		return err
	case step.Code == catalog.DropEdge:
		s.Edges, err = remove(s.Edges, step.Type, edgeName)
		return err
	case step.Code == catalog.Reorder && step.Type == "":
		return reorder(s.Edges, step.Order, edgeName)
	case step.Code == catalog.RenameEdge:
		was, first := renamedFrom(step)
		i, err := find(s.Edges, was, edgeName)
		if err != nil {
			return err
		}
		s.Edges[i].Name = step.Type
		if !strings.EqualFold(first, step.Type) && !strings.HasPrefix(step.Type, "aside") {
			s.Edges[i].RenameFrom = first
		}
		return nil
	}
	i, err := find(s.Edges, step.Type, edgeName)
	if err != nil {
		return err
	}
	e := s.Edges[i]
	switch {
	case step.Code == catalog.WidenEndpoints, step.Code == catalog.NarrowEndpoints:
		to := step.Element.(*catalog.Edge)
		e.From, e.FromInterface, e.To, e.ToInterface = to.From, to.FromInterface, to.To, to.ToInterface
	case step.Code == catalog.Annotate && step.Property == "":
		notes := step.Element.(catalog.Notes)
		e.Description, e.RenameFrom, e.Annotations = notes.Description, notes.RenameFrom, notes.Annotations
	case step.Property != "" || step.List == "properties":
		if step.Code == catalog.RenameProperty {
			for _, l := range append(slices.Clone(e.Unique), e.Index...) {
				rename(l, step)
			}
		}
		e.Properties, err = applyProperty(e.Properties, step)
	default:
		err = applyConstraint(step, &e.Unique, &e.Index, nil, nil, &e.Card)
	}
	return err
}

func applyProperty(props []*catalog.Property, step catalog.Step) ([]*catalog.Property, error) {
	switch step.Code {
	case catalog.AddProperty:
		p := *step.Element.(*catalog.Property)
		return insert(props, step.At, &p)
	case catalog.DropProperty:
		return remove(props, step.Property, propertyName)
	case catalog.Reorder:
		if step.List == "properties" {
			return props, reorder(props, step.Order, propertyName)
		}
	}
	name := step.Property
	was, first := renamedFrom(step)
	if step.Code == catalog.RenameProperty {
		name = was
	}
	i, err := find(props, name, propertyName)
	if err != nil {
		return nil, err
	}
	p := props[i]
	switch step.Code {
	case catalog.RenameProperty:
		p.Name, p.RenameFrom = step.Property, first
		for _, other := range props {
			if other.Embed != nil && other.Embed.Source == was {
				other.Embed.Source = step.Property
			}
		}
	case catalog.MakeNullable:
		p.Type.Nullable = true
	case catalog.WidenType, catalog.CastType:
		to := step.Element.(*catalog.Property).Type
		p.Type.Kind, p.Type.Dim, p.Type.Enum = to.Kind, to.Dim, to.Enum
	case catalog.ResizeVector:
		p.Type.Dim = step.Element.(*catalog.Property).Type.Dim
	case catalog.ReplaceEmbed:
		e := step.Element.(catalog.Embed)
		p.Embed = &e
	case catalog.WidenEnum:
		p.Type.Enum = step.Element.(catalog.Enum)
	case catalog.Reorder:
		p.Type.Enum = step.Order
	case catalog.ChangeDefault:
		f := step.Element.(catalog.Filling)
		p.Default, p.Backfill = f.Default, f.Backfill
	case catalog.ChangeEmbed:
		if e := step.Element.(catalog.Embed); e.Source == "" {
			p.Embed = nil
		} else {
			p.Embed = &e
		}
	case catalog.ChangeANN:
		p.Approximate = bool(step.Element.(catalog.Approximate))
	case catalog.Annotate:
		notes := step.Element.(catalog.Notes)
		p.Description, p.RenameFrom, p.Annotations = notes.Description, notes.RenameFrom, notes.Annotations
	default:
		return nil, fmt.Errorf("code")
	}
	return props, nil
}

func columns(l []string) string { return strings.Join(l, ",") }
func rangeText(r catalog.Range) string {
	b, _ := r.MarshalJSON()
	return string(b)
}
func checkText(c catalog.Check) string { return c.Property + " " + c.Pattern }

func applyConstraint(step catalog.Step, unique, index *[][]string, ranges *[]catalog.Range, checks *[]catalog.Check, card **catalog.Cardinality) (err error) {
	switch step.Code {
	case catalog.AddConstraint, catalog.AddIndex:
		switch e := step.Element.(type) {
		case catalog.Unique:
			*unique, err = insert(*unique, step.At, []string(e))
		case catalog.Index:
			*index, err = insert(*index, step.At, []string(e))
		case catalog.Range:
			*ranges, err = insert(*ranges, step.At, e)
		case catalog.Check:
			*checks, err = insert(*checks, step.At, e)
		case catalog.Cardinality:
			*card = &e
		}
	case catalog.DropConstraint, catalog.DropIndex:
		switch e := step.Element.(type) {
		case catalog.Unique:
			*unique, err = remove(*unique, columns(e), columns)
		case catalog.Index:
			*index, err = remove(*index, columns(e), columns)
		case catalog.Range:
			*ranges, err = remove(*ranges, rangeText(e), rangeText)
		case catalog.Check:
			*checks, err = remove(*checks, checkText(e), checkText)
		case catalog.Cardinality:
			*card = nil
		}
	case catalog.Reorder:
		spelled := func(e catalog.Element) string { return catalog.Spell(e) }
		switch step.List {
		case "unique":
			err = reorder(*unique, step.Order, func(l []string) string { return spelled(catalog.Unique(l)) })
		case "index":
			err = reorder(*index, step.Order, func(l []string) string { return spelled(catalog.Index(l)) })
		case "range":
			err = reorder(*ranges, step.Order, func(r catalog.Range) string { return spelled(r) })
		case "check":
			err = reorder(*checks, step.Order, func(c catalog.Check) string { return spelled(c) })
		default:
			err = fmt.Errorf("list %q", step.List)
		}
	default:
		err = fmt.Errorf("code")
	}
	return err
}
