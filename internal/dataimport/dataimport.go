// Package dataimport turns records of files into the NDJSON of a load, as a map (import.yaml) says:
//
//	Parse (import.yaml) → Map → NewPlan (checked against a schema) → Import → Stream (NDJSON)
//
// The NDJSON of an [Import] has all nodes first, and then the edges. The sources are read twice if they have both. Nothing is
// kept of the records: to explain an error of the load, [Import.Explain] reads the sources again up to the lines at fault.
package dataimport

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Map is the content of an import.yaml.
type Map struct {
	Database string // URL of the PostgreSQL database of the sources with a table or a query; "" if the command names it
	Sources  []Source
	reader   *strictyaml.Reader // reports the faults of the file
}

// Types lists the names of the types of the mappings, each once.
func (m *Map) Types() []string {
	var names []string
	for _, s := range m.Sources {
		for _, x := range s.Maps {
			if !slices.Contains(names, x.Type) {
				names = append(names, x.Type)
			}
		}
	}
	return names
}

// Source is a source of records and what they become.
type Source struct {
	Name  string // path of a file, which may be a pattern; any name for a table or a query
	Table string // table of the database; "" for a file
	Query string // query to the database; "" for a file
	Read  record.Options
	Maps  []*Mapping
	at    *strictyaml.Node
}

// InDatabase reports whether the records are rows of a database.
func (s *Source) InDatabase() bool { return s.Table != "" || s.Query != "" }

// InDatabase reports whether some source reads a database.
func (m *Map) InDatabase() bool {
	return slices.ContainsFunc(m.Sources, func(s Source) bool { return s.InDatabase() })
}

// Mapping makes one node or one edge of a record.
type Mapping struct {
	Type   string // name of the type
	IsEdge bool
	Set    []Assign
	From   *End // of an edge
	To     *End // of an edge
	Where  []Condition
	at     *strictyaml.Node
}

// Assign sets a property.
type Assign struct {
	Property string
	Column   Column
	at       *strictyaml.Node
}

// End says which node is at an end of an edge.
type End struct {
	Type string // name of a node type
	By   []Assign
	at   *strictyaml.Node
}

// Condition accepts the records whose column has one of some texts.
type Condition struct {
	Column string
	Texts  []string
	at     *strictyaml.Node
}

// Column says where the values of a property come from, and how they are written.
type Column struct {
	Name  string  // name of the column; "" for a constant
	Const *string // the text of each value, in place of a column

	Null   []string // texts that stand for null
	Trim   bool     // blanks around a text do not count
	Date   string   // layout of a Date
	Time   string   // layout of a DateTime
	Zone   string   // time zone of texts without one
	Round  string   // what digits are rounded to; one of roundings
	Number string   // a number as the source writes numbers
	True   []string // texts that stand for true
	False  []string // texts that stand for false
	List   string   // separator of the elements of a list
	Bytes  string   // encoding of a Blob
	Unit   string   // unit of the numbers of a Duration; one of units
}

// units are the units of numbers that are a Duration.
var units = []string{"ns", "us", "ms", "s", "m", "h"}

// roundings are the units to which a column may round.
var roundings = []string{"integer", "second", "millisecond", "microsecond"}
