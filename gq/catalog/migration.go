package catalog

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Migration lists the changes that turn one schema into another.
type Migration struct {
	Steps []Step `json:"steps"` // in the order in which they apply
}

// StepCode identifies the kind of a step. The codes are stable.
type StepCode string

// The supported steps. A step that adds a constraint, cast_type, narrow_endpoints, and an add_property with a @backfill fail when the
// stored data violates them; the other steps always succeed.
const (
	RenameNode      StepCode = "rename_node"      // gives a node type a new name
	RenameEdge      StepCode = "rename_edge"      // gives an edge type a new name
	DropNode        StepCode = "drop_node"        // removes a node type with its entities
	DropEdge        StepCode = "drop_edge"        // removes an edge type with its entities
	DropInterface   StepCode = "drop_interface"   // removes an interface
	AddInterface    StepCode = "add_interface"    // adds an interface
	ChangeInterface StepCode = "change_interface" // changes the properties of an interface
	AddNode         StepCode = "add_node"         // adds a node type
	AddEdge         StepCode = "add_edge"         // adds an edge type
	RenameProperty  StepCode = "rename_property"  // gives a property a new name
	DropProperty    StepCode = "drop_property"    // removes a property with its values
	AddProperty     StepCode = "add_property"     // adds a property that may be null, or that has a @default or a @backfill
	MakeNullable    StepCode = "make_nullable"    // lets a property be null
	WidenType       StepCode = "widen_type"       // changes a property to a type that has every value of the old one
	CastType        StepCode = "cast_type"        // changes a property to a type that may lack some of its values
	WidenEnum       StepCode = "widen_enum"       // adds values to an enum
	ChangeEmbed     StepCode = "change_embed"     // adds or removes @embed, or its model
	ReplaceEmbed    StepCode = "replace_embed"    // changes the source or the model of @embed, and removes the vectors
	ResizeVector    StepCode = "resize_vector"    // changes the length of a Vector, and removes the vectors
	ChangeANN       StepCode = "change_ann"       // adds or removes @ann
	ChangeDefault   StepCode = "change_default"   // adds, removes or changes @default or @backfill; stored rows keep their values
	WidenEndpoints  StepCode = "widen_endpoints"  // changes the ends of an edge type to interfaces that their node types implement
	NarrowEndpoints StepCode = "narrow_endpoints" // changes the ends of an edge type so that some node types no longer fit
	DropIndex       StepCode = "drop_index"       // removes an index
	AddIndex        StepCode = "add_index"        // adds an index
	DropConstraint  StepCode = "drop_constraint"  // removes a rule
	AddConstraint   StepCode = "add_constraint"   // adds a rule
	Implement       StepCode = "implement"        // changes the interfaces of a node type
	Annotate        StepCode = "annotate"         // changes a description or annotations
	Reorder         StepCode = "reorder"          // changes the order of a list
)

// The changes that Diff cannot allow from the schemas alone; Step.Reason says why. A caller that
// has the data may find that a change is possible and then clears the reason.
const (
	AddRequired     StepCode = "add_required"     // adds a property that may not be null
	MakeRequired    StepCode = "make_required"    // forbids null in a property
	NarrowEnum      StepCode = "narrow_enum"      // removes values from an enum
	ChangeType      StepCode = "change_type"      // changes the type of a property in another way
	ChangeKey       StepCode = "change_key"       // changes the key of a node type
	ChangeEndpoints StepCode = "change_endpoints" // changes the node types of an edge
	AmbiguousRename StepCode = "ambiguous_rename" // a @rename_from that cannot be honoured
)

// TypeKind identifies one of the three name spaces of types.
type TypeKind string

// The kinds of type.
const (
	InterfaceType TypeKind = "interface" // an interface
	NodeType      TypeKind = "node"      // a node type
	EdgeType      TypeKind = "edge"      // an edge type
)

// DropMode says what happens to the values of a dropped type or property.
type DropMode string

// The drop modes. In both modes, older commits still show the values for as long as the commits
// are kept. After a soft drop, the values also stay in the files until the rows are rewritten. A
// hard drop removes them at once from the files of the branch's head.
const (
	SoftDrop DropMode = "soft" // values stay in files for a time
	HardDrop DropMode = "hard" // values leave the files at once
)

// Step is one change of a schema. The code determines which of the other fields are set.
type Step struct {
	Code StepCode `json:"code"` // what the step does
	Kind TypeKind `json:"kind"` // kind of the type
	// The name of the type after the renames. Empty when the step reorders the list of types.
	Type     string `json:"type,omitempty"`
	Property string `json:"property,omitempty"` // name after the renames; empty in a step on a type
	Was      string `json:"was,omitempty"`      // the old name, in a rename
	// The part that the step adds or drops, or the new version of a changed part.
	Element Element `json:"element,omitempty"`
	At      int     `json:"at,omitempty"` // index in the new list, from 0, of an added element
	// For a reordering: the name of the list (types, properties, key, unique, index, range, check
	// or enum), and its elements in the new order, as a schema writes them.
	List  string   `json:"list,omitempty"`
	Order []string `json:"order,omitempty"` // see List

	// Drop is set for a dropped type or property, for a property whose vectors are removed, and for a node type that stops implementing an interface at an end of an
	// edge type, since the edges that end at its nodes are removed.
	Drop   DropMode `json:"drop,omitempty"`
	Reason string   `json:"reason,omitempty"` // why the change is unsupported; empty when it is supported
	// From and To are the old and the new text, as a schema writes it, in a change of a type, an
	// enum, a key, endpoints or an embedding. For an added required property, only To is set.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Element is a part of a schema: one of *Interface, *Node, *Edge, *Property, Unique,
// Index, Range, Check, Cardinality, Validity, Enum, Implements, Embed, Approximate, Filling and Notes.
type Element interface{ element() }

// Unique is a uniqueness constraint over properties. In a constraint of an edge, the list may
// include src and dst.
type Unique []string

// Index is an index over properties. In an index of an edge, the list may include src and dst.
type Index []string

// Enum lists the values that a String property may take. It is nil when every value is allowed.
type Enum []string

// Implements lists the interfaces of a node type.
type Implements []string

// Approximate says whether a Vector property has an approximate index.
type Approximate bool

// Notes are the description and annotations of a type or property.
type Notes struct {
	Description string       `json:"description,omitempty"` // text of the type or property
	RenameFrom  string       `json:"rename_from,omitempty"` // old name from @rename_from, or ""
	Annotations []Annotation `json:"annotations,omitempty"` // in source order
}

// element implements Element.
func (*Interface) element()  {}
func (*Node) element()       {}
func (*Edge) element()       {}
func (*Property) element()   {}
func (Unique) element()      {}
func (Index) element()       {}
func (Range) element()       {}
func (Check) element()       {}
func (Cardinality) element() {}
func (Validity) element()    {}
func (Enum) element()        {}
func (Implements) element()  {}
func (Embed) element()       {}
func (Approximate) element() {}
func (Notes) element()       {}

// Supported reports whether every step is supported.
func (m *Migration) Supported() bool {
	return !slices.ContainsFunc(m.Steps, func(s Step) bool { return s.Reason != "" })
}

// Destructive reports whether any step removes values from the graph.
func (m *Migration) Destructive() bool { return slices.ContainsFunc(m.Steps, Step.Destructive) }

// Hard returns a copy of the migration in which every drop of a type or property is a hard drop.
func (m *Migration) Hard() *Migration {
	out := &Migration{Steps: slices.Clone(m.Steps)}
	for i := range out.Steps {
		if out.Steps[i].Drop != "" && out.Steps[i].Code != Implement {
			out.Steps[i].Drop = HardDrop
		}
	}
	return out
}

// Destructive reports whether the step removes values from the graph: in either drop mode, the
// branch no longer shows them.
func (s Step) Destructive() bool { return s.Drop != "" }

// Remakes reports whether the step removes the vectors of a property that stays.
func (s Step) Remakes() bool { return s.Code == ReplaceEmbed || s.Code == ResizeVector }

// Verifies reports whether the step fails when the stored data violates it.
func (s Step) Verifies() bool {
	switch s.Code {
	case AddConstraint, CastType, NarrowEndpoints:
		return true
	case AddProperty:
		p, ok := s.Element.(*Property)
		return ok && p.Backfill != nil
	case AddRequired, MakeRequired, NarrowEnum:
		return s.Reason == ""
	}
	return false
}

// String formats the migration for people, one step a line. A line starts with + for an
// addition, - for a drop, ~ for a change and ! for an unsupported change.
func (m *Migration) String() string {
	if len(m.Steps) == 0 {
		return "no change\n"
	}
	var b strings.Builder
	for _, s := range m.Steps {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// String formats the step on one line.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.mark())
	b.WriteByte(' ')
	b.WriteString(string(s.Code))
	b.WriteByte(' ')
	switch {
	case s.Type != "":
		b.WriteString(string(s.Kind) + " " + s.Type)
	default:
		b.WriteString(string(s.Kind) + "s")
	}
	if s.Property != "" {
		b.WriteString("." + s.Property)
	}
	switch {
	case s.Was != "":
		b.WriteString(" from " + s.Was)
	case s.Order != nil:
		b.WriteString(": " + s.List + " " + strings.Join(s.Order, ", "))
	case s.From+s.To != "":
		b.WriteString(": " + orNothing(s.From) + " to " + orNothing(s.To))
	case s.Element != nil:
		if text := spell(s.Element); text != "" {
			b.WriteString(": " + text)
		}
	}
	switch {
	case s.Reason != "":
		b.WriteString(": unsupported: " + s.Reason)
	case s.Drop != "":
		b.WriteString(" (" + string(s.Drop) + ", destroys data)")
	case s.Verifies():
		b.WriteString(" (checks the stored data)")
	}
	return b.String()
}

// mark returns the sign that begins the text of a step: + for an addition, - for a removal, ! for
// an unsupported change, and ~ for other changes.
func (s Step) mark() string {
	switch s.Code {
	case AddInterface, AddNode, AddEdge, AddProperty, AddIndex, AddConstraint:
		return "+"
	case DropInterface, DropNode, DropEdge, DropProperty, DropIndex, DropConstraint:
		return "-"
	case RenameNode, RenameEdge, RenameProperty, ChangeInterface, MakeNullable, WidenType, CastType, WidenEnum, ChangeEmbed, ChangeANN, ChangeDefault, WidenEndpoints, NarrowEndpoints, Implement, Annotate, Reorder:
		return "~"
	case AddRequired, MakeRequired, NarrowEnum, ChangeType, ChangeKey, ChangeEndpoints, ReplaceEmbed, ResizeVector, AmbiguousRename:
		if s.Reason == "" {
			return "~"
		}
		return "!"
	}
	panic("catalog: step has no code")
}

// orNothing returns s, or "nothing" if s is empty.
func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// spell formats an element roughly as a schema writes it. It returns "" for an element that the
// step has already named.
func spell(e Element) string {
	switch e := e.(type) {
	case *Interface:
		return spellAll(e.Properties)
	case *Node:
		return spellAll(e.Properties)
	case *Edge:
		return e.EndName(false) + " -> " + e.EndName(true)
	case *Property:
		return strings.TrimSuffix(e.Type.String()+" "+e.filling().String(), " ")
	case Unique:
		return "@unique(" + strings.Join(e, ", ") + ")"
	case Index:
		return "@index(" + strings.Join(e, ", ") + ")"
	case Range:
		return "@range(" + e.Property + ", " + spellEnd(e.Min) + ".." + spellEnd(e.Max) + ")"
	case Check:
		return "@check(" + e.Property + ", " + quote(e.Pattern) + ")"
	case Cardinality:
		return e.String()
	case Validity:
		return "@valid(" + e.Since + ", " + e.Until + ")"
	case Enum:
		if e == nil {
			return "any String"
		}
		return value.Type{Kind: value.String, Enum: e}.String()
	case Implements:
		return strings.Join(e, ", ")
	case Embed:
		switch {
		case e.Source == "":
			return "none"
		case e.Model == "":
			return "@embed(" + quote(e.Source) + ")"
		}
		return "@embed(" + quote(e.Source) + ", model=" + quote(e.Model) + ")"
	case Filling:
		return orNothing(e.String())
	case Approximate:
		if !e {
			return "none"
		}
		return "@ann"
	case Notes:
		return e.Description
	}
	panic("catalog: element has an unknown type")
}

// spellAll writes properties with their types, in braces.
func spellAll(props []*Property) string {
	words := make([]string, len(props))
	for i, p := range props {
		words[i] = p.Name + ": " + p.Type.String()
	}
	return "{ " + strings.Join(words, " ") + " }"
}

// spellEnd writes an end of a range. It returns "" for an end without a limit.
func spellEnd(v *value.Value) string {
	if v == nil {
		return ""
	}
	return value.Text(*v)
}

// quote quotes a string in the language's syntax, which has fewer escapes than Go's.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}
