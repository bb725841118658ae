package infer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Input is a table to read.
type Input struct {
	File    record.File
	Source  string   // name in the map
	Read    string   // section read of the map, in YAML; "" for none
	Records string   // path to the records of JSON
	Catalog *Catalog // what a database says of the table; nil for a file
	kind    string   // nodeKind or edgeKind for a part of GraphML
}

// Catalog has the types and the constraints of a table in a database.
type Catalog struct {
	Columns    map[string]*Declared
	Key        []string   // columns of the primary key, or of a unique constraint without nulls; nil for none
	Unique     [][]string // columns of the other unique constraints
	References []Reference
}

// Declared is what a database says of a column.
type Declared struct {
	Type    value.Type
	SQL     string // type as the database writes it
	NotNull bool
	Enum    []string // the only texts that the column may have; nil for any
	Range   string   // the numbers that the column may have, as a schema writes a range, such as 1..50; "" for any
	Why     string   // the constraint of Enum or Range, or one that the schema cannot express
}

// Reference is a foreign key.
type Reference struct {
	Name    string // of the constraint
	Columns []string
	Table   string   // Source of the other table
	To      []string // columns there
}

// infinities are the texts of PostgreSQL that stand for a time without bound, which no type of a schema has.
var infinities = []string{"infinity", "-infinity", "Infinity", "-Infinity"}

// declare restricts the forms of a column to its declared type.
func (c *column) declare(d *Declared) {
	c.declared = d
	if d.Type.Kind == value.Decimal {
		c.forms = []form{newForm(d.Type, dataimport.Column{})}
		return
	}
	c.forms = slices.DeleteFunc(c.forms, func(f form) bool { return f.typ.Kind != d.Type.Kind || f.typ.List != d.Type.List })
}

// named returns columns by their names, or nil if the table lacks one.
func (t *table) named(names []string) []*column {
	var all []*column
	for _, name := range names {
		i := slices.IndexFunc(t.columns, func(c *column) bool { return c.name == name })
		if i < 0 {
			return nil
		}
		all = append(all, t.columns[i])
	}
	return all
}

// declaredKey takes the key that the database says. A column that a schema cannot have in a key leaves the table without one.
func (t *table) declaredKey() {
	key := t.named(t.catalog.Key)
	for _, c := range key {
		if c.omit != "" || c.isOptional() || c.blanks > 0 || c.typ != nil && (c.typ.typ.List || c.typ.typ.Kind != value.I64 && c.typ.typ.Kind != value.Date) {
			t.noKey = fmt.Sprintf("the key of the database has %s, which is a %s", c.name, c.declared.SQL)
			return
		}
	}
	if len(key) > 0 {
		t.key = key
		t.keyText = "the key of the database; " + rows(t.rows)
	}
}

// declaredReferences takes the foreign keys of all tables of a database.
func declaredReferences(tables []*table) {
	for _, t := range tables {
		if t.catalog == nil {
			continue
		}
		for _, f := range t.catalog.References {
			columns := t.named(f.Columns)
			i := slices.IndexFunc(tables, func(to *table) bool { return to.source == f.Table })
			if columns == nil || i < 0 {
				continue
			}
			to := tables[i]
			by := to.named(f.To)
			if !sameColumns(by, to.key) && !to.isUnique(by) {
				continue
			}
			ref := &reference{columns: columns, to: to, by: by,
				why: oneLine(fmt.Sprintf("%s: the foreign key %s to %s", strings.Join(f.Columns, ", "), f.Name, path.Base(to.source)))}
			if len(columns) == 1 {
				ref.why += fmt.Sprintf("; %s distinct in %s values", count(columns[0].distinct), count(columns[0].values))
			}
			t.refs = append(t.refs, ref)
			to.referenced = true
			for _, c := range columns {
				c.ref = ref
			}
		}
	}
	for _, t := range tables {
		t.declaredJoin()
	}
}

// sameColumns reports whether two lists have the same columns, in any order.
func sameColumns(a, b []*column) bool {
	return len(a) > 0 && len(a) == len(b) && !slices.ContainsFunc(a, func(c *column) bool { return !slices.Contains(b, c) })
}

// isUnique reports whether some columns are one column that the database and the schema say is unique.
func (t *table) isUnique(columns []*column) bool {
	return len(columns) == 1 && t.isDeclaredUnique(columns[0])
}

// isDeclaredUnique reports whether a unique constraint is on a column alone.
func (t *table) isDeclaredUnique(c *column) bool {
	return t.catalog != nil && c.omit == "" && (c.typ == nil || !c.typ.typ.List && c.typ.typ.Kind == value.I64) &&
		slices.ContainsFunc(t.catalog.Unique, func(names []string) bool { return len(names) == 1 && names[0] == c.name })
}

// declaredJoin makes a table a join table, if its key consists of two foreign keys and no table refers to it.
func (t *table) declaredJoin() {
	if t.catalog == nil || t.referenced || len(t.refs) != 2 {
		return
	}
	both := slices.Concat(t.refs[0].columns, t.refs[1].columns)
	switch {
	case sameColumns(both, t.key):
		t.join, t.distinct = t.refs, true
		t.keyText = "the key of the database consists of two foreign keys"
	case len(t.catalog.Key) == 0 && slices.ContainsFunc(t.catalog.Unique, func(names []string) bool { return sameColumns(both, t.named(names)) }):
		t.join, t.distinct = t.refs, true
		t.keyText = "a unique constraint consists of two foreign keys"
	default:
		return
	}
	t.key = nil
}

// referencesAreDeclared reports whether the references of a table come from a database: some table of it has a foreign key.
func referencesAreDeclared(t *table, tables []*table) bool {
	return t.catalog != nil && slices.ContainsFunc(tables, func(o *table) bool { return o.catalog != nil && len(o.catalog.References) > 0 })
}
