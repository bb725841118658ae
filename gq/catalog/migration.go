package catalog

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Migration is the way from one schema to another.
type Migration struct {
	Steps []Step `json:"steps"` // in the order in which they apply
}

// StepCode names what a step does. Codes are stable.
type StepCode string

// The steps that can be taken. Adding a constraint succeeds only when the stored data
// keeps it; the others always do.
const (
	RenameNode      StepCode = "rename_node"
	RenameEdge      StepCode = "rename_edge"
	DropNode        StepCode = "drop_node"
	DropEdge        StepCode = "drop_edge"
	DropInterface   StepCode = "drop_interface"
	AddInterface    StepCode = "add_interface"
	ChangeInterface StepCode = "change_interface"
	AddNode         StepCode = "add_node"
	AddEdge         StepCode = "add_edge"
	RenameProperty  StepCode = "rename_property"
	DropProperty    StepCode = "drop_property"
	AddProperty     StepCode = "add_property"
	MakeNullable    StepCode = "make_nullable"
	WidenType       StepCode = "widen_type"
	WidenEnum       StepCode = "widen_enum"
	ChangeEmbed     StepCode = "change_embed"
	DropIndex       StepCode = "drop_index"
	AddIndex        StepCode = "add_index"
	DropConstraint  StepCode = "drop_constraint"
	AddConstraint   StepCode = "add_constraint"
	Implement       StepCode = "implement"
	Annotate        StepCode = "annotate"
	Reorder         StepCode = "reorder"
)

// The changes that a schema alone does not show to be possible; Step.Reason says why. Who
// has the data at hand may find that it permits one, and then takes the reason away.
const (
	AddRequired     StepCode = "add_required"
	MakeRequired    StepCode = "make_required"
	NarrowEnum      StepCode = "narrow_enum"
	ChangeType      StepCode = "change_type"
	ChangeKey       StepCode = "change_key"
	ChangeEndpoints StepCode = "change_endpoints"
	ReplaceEmbed    StepCode = "replace_embed"
	AmbiguousRename StepCode = "ambiguous_rename"
)

// TypeKind tells the name spaces of types apart.
type TypeKind string

// The kinds of type.
const (
	InterfaceType TypeKind = "interface"
	NodeType      TypeKind = "node"
	EdgeType      TypeKind = "edge"
)

// DropMode says what becomes of the values of a type or property that is dropped.
type DropMode string

// The drop modes. After either older commits still show the values, for as long as they
// are kept. A soft drop leaves them in the files besides until their rows are written
// anew, a hard drop takes them from what is stored of the branch's head without delay.
const (
	SoftDrop DropMode = "soft"
	HardDrop DropMode = "hard"
)

// Step is one change of a schema. Which of the fields are set depends on the code.
type Step struct {
	Code     StepCode `json:"code"`
	Kind     TypeKind `json:"kind"`
	Type     string   `json:"type,omitempty"` // its name after the renames; empty when the list of types is reordered
	Property string   `json:"property,omitempty"`
	Was      string   `json:"was,omitempty"`     // of a rename, the old name
	Element  Element  `json:"element,omitempty"` // what is added, dropped, or takes the place of what was there
	At       int      `json:"at,omitempty"`      // of what is added, its place in the new list, from 0
	// Of a reordering, what is reordered: types, properties, unique, index, range,
	// check or enum; and the elements as a schema spells them, in their new order.
	List  string   `json:"list,omitempty"`
	Order []string `json:"order,omitempty"`

	Drop   DropMode `json:"drop,omitempty"`   // of a type or property that is dropped
	Reason string   `json:"reason,omitempty"` // why the change is unsupported; empty when it is supported
	From   string   `json:"from,omitempty"`   // what was there, as a schema spells it, of a change of type, enum, key or ends
	To     string   `json:"to,omitempty"`     // what takes its place
}

// Element is a part of a schema: one of *Interface, *Node, *Edge, *Property, Unique,
// Index, Range, Check, Cardinality, Enum, Implements, Embed and Notes.
type Element interface{ element() }

// Unique is a constraint over properties, and of an edge src and dst.
type Unique []string

// Index is an index over properties, and of an edge src and dst.
type Index []string

// Enum is the list of the values that a String may take; nil when it may take any.
type Enum []string

// Implements is the list of a node's interfaces.
type Implements []string

// Notes are what is written about a type or property for people and tools.
type Notes struct {
	Description string       `json:"description,omitempty"`
	RenameFrom  string       `json:"rename_from,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
}

func (*Interface) element()  {}
func (*Node) element()       {}
func (*Edge) element()       {}
func (*Property) element()   {}
func (Unique) element()      {}
func (Index) element()       {}
func (Range) element()       {}
func (Check) element()       {}
func (Cardinality) element() {}
func (Enum) element()        {}
func (Implements) element()  {}
func (Embed) element()       {}
func (Notes) element()       {}

// Supported reports whether every step can be taken.
func (m *Migration) Supported() bool {
	return !slices.ContainsFunc(m.Steps, func(s Step) bool { return s.Reason != "" })
}

// Destructive reports whether a step takes values from the graph.
func (m *Migration) Destructive() bool { return slices.ContainsFunc(m.Steps, Step.Destructive) }

// Hard returns the migration with every drop made a hard one.
func (m *Migration) Hard() *Migration {
	out := &Migration{Steps: slices.Clone(m.Steps)}
	for i := range out.Steps {
		if out.Steps[i].Drop != "" {
			out.Steps[i].Drop = HardDrop
		}
	}
	return out
}

// Destructive reports whether the step takes values from the graph: the branch no
// longer shows them, whatever the drop mode.
func (s Step) Destructive() bool { return s.Drop != "" }

// Verifies reports whether the step fails when stored data does not fit.
func (s Step) Verifies() bool {
	switch s.Code {
	case AddConstraint:
		return true
	case AddRequired, MakeRequired, NarrowEnum:
		return s.Reason == ""
	}
	return false
}

// String prints the migration for people, one step a line: + adds, - drops, ~ changes
// and ! is unsupported.
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

// String prints the step on one line.
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

func (s Step) mark() string {
	switch s.Code {
	case AddInterface, AddNode, AddEdge, AddProperty, AddIndex, AddConstraint:
		return "+"
	case DropInterface, DropNode, DropEdge, DropProperty, DropIndex, DropConstraint:
		return "-"
	case RenameNode, RenameEdge, RenameProperty, ChangeInterface, MakeNullable, WidenType, WidenEnum, ChangeEmbed, Implement, Annotate, Reorder:
		return "~"
	case AddRequired, MakeRequired, NarrowEnum, ChangeType, ChangeKey, ChangeEndpoints, ReplaceEmbed, AmbiguousRename:
		if s.Reason == "" {
			return "~"
		}
		return "!"
	}
	panic("catalog: step of no code")
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// spell writes an element about as a schema does; "" for one that its step has named
// already.
func spell(e Element) string {
	switch e := e.(type) {
	case *Interface:
		return spellAll(e.Properties)
	case *Node:
		return spellAll(e.Properties)
	case *Edge:
		return e.From + " -> " + e.To
	case *Property:
		return e.Type.String()
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
	case Notes:
		return e.Description
	}
	panic("catalog: element of no kind")
}

func spellAll(props []*Property) string {
	words := make([]string, len(props))
	for i, p := range props {
		words[i] = p.Name + ": " + p.Type.String()
	}
	return "{ " + strings.Join(words, " ") + " }"
}

func spellEnd(v *value.Value) string {
	if v == nil {
		return ""
	}
	return value.Text(*v)
}

// quote spells a string as the language does, which knows fewer escapes than Go.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}
