// Package infer proposes a schema and a map for tables: it reads them as a whole, and finds types, keys, references, enums and
// join tables. Comments in both files give the evidence.
//
//	files → tables with profiles of their columns → relations → schema.pg, import.yaml
package infer

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// The limits of what is remembered of a column.
const (
	maxDistinct = 8 << 20 // hashes of distinct values, of 8 bytes each
	maxEnum     = 12      // values of an enum
	maxSamples  = 200     // texts to tell layouts apart
	maxKeyBytes = 200     // length of a text that may be a key
)

// nullTexts are texts that often stand for null.
var nullTexts = []string{"NULL", "null", "N/A", "n/a", "NA", "NaN", "nan", "None", "-", "--", `\N`, "#N/A"}

// table is a file with the profiles of its columns.
type table struct {
	file    record.File
	source  string   // name in the map
	section string   // section read of the map; "" for none
	records string   // path to the records of JSON
	kind    string   // nodeKind or edgeKind for a part of GraphML
	paths   []string // paths to the values of the records of JSON
	catalog *Catalog
	typ     string // name of the node type or edge type
	columns []*column
	rows    int64
	key     []*column
	keyText string // evidence of the key, on one line
	noKey   string // why the key of the database is none here
	// Other tables of the database refer to this one.
	referenced bool
	// A join table becomes an edge type between the types of two references.
	join     []*reference
	distinct bool // no two rows of a join table have the same ends
	refs     []*reference
}

// column is the profile of a column.
type column struct {
	table *table
	name  string // in the file
	prop  string // as a property

	declared *Declared        // by a database; nil for a file
	values   int64            // values that are not null
	tokens   map[string]int64 // occurrences of nullTexts
	forms    []form           // the types that all values fit so far
	samples  []string         // distinct texts, at most maxSamples
	hashes   []uint64         // of the values; sorted and distinct up to `sorted`
	sorted   int              // number of hashes that are sorted and distinct
	overflow bool             // there were too many distinct values
	long     bool             // some value is too long for a key
	blanks   int64            // texts of blanks alone that the source does not take for null
	odd      bool             // some value is neither a text nor a number
	texts    map[string]int64 // occurrences of the values; nil if there are more than maxEnum
	places   [2]places        // of numbers with the point and with the comma before their fraction

	typ      *form  // the type; nil for String
	doubt    string // why the type is String although the values could have another
	note     string // what the author should know
	omit     string // why the column is no property
	distinct int64
	ref      *reference
}

// form is a type with the way in which texts write it.
type form struct {
	typ     value.Type
	column  dataimport.Column
	convert *dataimport.Converter
}

// reference says that the values of columns occur as the key, or as another unique column, of a table.
type reference struct {
	columns []*column // in the order of `by`
	to      *table
	by      []*column
	why     string
}

// newForm returns a form.
func newForm(t value.Type, c dataimport.Column) form {
	f := form{typ: t, column: c}
	k, err := dataimport.NewConverter(t, &f.column)
	if err != nil {
		panic("infer: " + err.Error())
	}
	f.convert = k
	return f
}

// formsOf returns all forms, the preferred ones first.
func formsOf() []form {
	list := func(k value.Kind) value.Type { return value.Type{Kind: k, List: true} }
	all := []form{
		newForm(value.Of(value.Bool), dataimport.Column{}), newForm(value.Of(value.I64), dataimport.Column{}), newForm(value.Of(value.F64), dataimport.Column{}),
		newForm(list(value.I64), dataimport.Column{}), newForm(list(value.F64), dataimport.Column{}), newForm(list(value.String), dataimport.Column{}),
		newForm(value.Of(value.Date), dataimport.Column{}), newForm(value.Of(value.Duration), dataimport.Column{}), newForm(value.Of(value.Blob), dataimport.Column{}),
		newForm(list(value.Bool), dataimport.Column{}), newForm(list(value.Date), dataimport.Column{}),
	}
	for _, zone := range []string{"", "UTC"} {
		for _, round := range []string{"", "microsecond"} {
			all = append(all, newForm(value.Of(value.DateTime), dataimport.Column{Zone: zone, Round: round}))
		}
	}
	for _, number := range []string{"1.234,56", "1,234.56", "1 234,56"} {
		all = append(all, newForm(value.Of(value.F64), dataimport.Column{Number: number}))
	}
	for _, layout := range dataimport.DateLayouts[1:] {
		all = append(all, newForm(value.Of(value.Date), dataimport.Column{Date: layout}))
	}
	for _, day := range []string{"02/01/2006", "01/02/2006", "2/1/2006", "1/2/2006", "02.01.2006"} {
		for _, clock := range []string{"15:04:05", "15:04", "3:04 PM", "3:04:05 PM"} {
			all = append(all, newForm(value.Of(value.DateTime), dataimport.Column{Time: day + " " + clock, Zone: "UTC"}))
		}
	}
	return all
}

// seed is the seed of the hashes of all columns.
var seed = maphash.MakeSeed()

// profile reads a table.
func profile(ctx context.Context, in *Input, count func(int)) (*table, error) {
	t := &table{file: in.File, source: in.Source, section: in.Read, catalog: in.Catalog, kind: in.kind}
	if record.FormatOf(in.File.Name) == record.JSON {
		t.records = in.Records
		if in.Records != "" {
			t.section = "{ records: " + dataimport.Quote(in.Records) + " }"
		}
		var err error
		if t.paths, err = record.Paths(in.File, record.Options{Records: t.records}); err != nil {
			return nil, err
		}
	}
	r, err := record.Open(in.File, record.Options{Count: count, Records: t.records})
	if err != nil {
		return nil, err
	}
	err = t.read(ctx, r)
	return t, errors.Join(err, r.Close())
}

// read profiles the columns of a table.
func (t *table) read(ctx context.Context, r record.Reader) error {
	names := r.Columns()
	if names == nil {
		names = t.paths
	}
	if names == nil {
		return fmt.Errorf("%s: infer reads tables, such as CSV or records of JSON, and found none here; write the map of this file by hand", t.file.Name)
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	r.Select(names)
	for _, name := range names {
		c := &column{table: t, name: name, forms: formsOf(), texts: map[string]int64{}, tokens: map[string]int64{}}
		if t.catalog != nil {
			c.declare(t.catalog.Columns[name])
		}
		t.columns = append(t.columns, c)
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if t.rows++; t.rows%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range rec.Values {
			t.columns[i].add(&rec.Values[i])
		}
	}
	t.dropEmpty()
	for _, c := range t.columns {
		c.finish()
	}
	return nil
}

// add adds a value.
func (c *column) add(v *record.Value) {
	if v.Kind == record.Null {
		return
	}
	if v.Kind == record.Text && len(strings.TrimSpace(string(v.Raw))) == 0 {
		c.blanks++
		return
	}
	if v.Kind == record.Text && (slices.Contains(nullTexts, string(v.Raw)) && c.declared == nil || c.declared != nil && slices.Contains(c.unbounded(), string(v.Raw))) {
		c.tokens[string(v.Raw)]++
		return
	}
	c.values++
	c.odd = c.odd || v.Kind != record.Text && v.Kind != record.Number
	fits := c.forms[:0]
	for _, f := range c.forms {
		if _, err := f.convert.Convert(v); err == nil && (v.Kind != record.Text || !isCode(v.Raw) || !f.typ.Kind.IsNumeric()) {
			fits = append(fits, f)
		}
	}
	c.forms = fits
	text := v.String()
	c.places[0].add(text, '.')
	c.places[1].add(text, ',')
	c.long = c.long || len(text) > maxKeyBytes
	if len(c.samples) < maxSamples && len(text) <= maxKeyBytes && !slices.Contains(c.samples, text) {
		c.samples = append(c.samples, text)
	}
	if c.texts != nil {
		if c.texts[text]++; len(c.texts) > maxEnum || c.long {
			c.texts = nil
		}
	}
	if !c.overflow && !c.long {
		c.hashes = append(c.hashes, hashOf(text))
		if len(c.hashes) > 4096 && len(c.hashes) > 2*c.sorted {
			c.compact()
		}
	}
}

// hashOf returns the hash of a value. The whole number 12.0 has the hash of 12.
func hashOf(text string) uint64 {
	if whole, zeros, ok := strings.Cut(text, "."); ok && strings.Trim(zeros, "0") == "" && whole != "" && strings.Trim(whole, "0123456789") == "" {
		text = whole
	}
	return maphash.String(seed, text)
}

// isCode reports whether a text is a code of digits and no number: it begins with a zero, such as 007, or is too long for an
// I64.
func isCode(b []byte) bool {
	digits := len(strings.Trim(string(b), "0123456789")) == 0
	return digits && (len(b) > 18 || len(b) > 1 && b[0] == '0')
}

// compact removes hashes that occur twice.
func (c *column) compact() {
	slices.Sort(c.hashes)
	c.hashes = slices.Compact(c.hashes)
	c.sorted = len(c.hashes)
	if c.sorted > maxDistinct {
		c.hashes, c.overflow = nil, true
	}
}

// finish decides on the type of the column.
func (c *column) finish() {
	c.compact()
	c.distinct = int64(len(c.hashes))
	if c.values == 0 && (c.declared == nil || len(c.forms) == 0) {
		if c.doubt = "no value in the files"; c.declared != nil {
			c.doubt = "no value in the table"
		}
		return
	}
	if len(c.forms) == 0 && c.odd {
		c.omit = "its values fit no type of a schema"
		if c.declared != nil {
			c.omit = "its values, of the type " + c.declared.SQL + ", fit no type of a schema, such as null in a list"
		}
		return
	}
	if len(c.forms) == 0 {
		if len(c.tokens) > 0 { // they are texts like others
			for text, n := range c.tokens {
				c.values += n
				c.hashes = append(c.hashes, hashOf(text))
				if c.texts != nil {
					c.texts[text] += n
				}
			}
			c.tokens = map[string]int64{}
			c.compact()
			c.distinct = int64(len(c.hashes))
		}
		return
	}
	first := &c.forms[0]
	for i := range c.forms[1:] {
		other := &c.forms[i+1]
		if other.typ.Kind != first.typ.Kind || other.typ.List != first.typ.List {
			continue
		}
		for _, text := range c.samples {
			in := record.OfText(text)
			a, errA := first.convert.Convert(&in)
			b, errB := other.convert.Convert(&in)
			if errA == nil && errB == nil && !value.Equal(a, b) && !dataimport.Plain(first.column) {
				c.doubt = fmt.Sprintf("%s could be %s or %s, so it stays a text; say which in import.yaml, and change the type", text, describe(first, a), describe(other, b))
				return
			}
		}
	}
	c.typ = first
	var notes []string
	if f, why := c.decimal(first); f != nil {
		c.typ, notes = f, append(notes, why)
	}
	if first.column.Zone != "" {
		notes = append(notes, "the times have no zone, and import.yaml assumes UTC")
	}
	if first.column.Round != "" {
		notes = append(notes, "the times have more digits than a DateTime keeps, and import.yaml rounds them")
	}
	c.note = strings.Join(notes, "; ")
}

// describe returns a value with the option that reads it so.
func describe(f *form, v value.Value) string {
	for _, o := range [][2]string{{"date", f.column.Date}, {"time", f.column.Time}, {"number", f.column.Number}} {
		if o[1] != "" {
			return fmt.Sprintf("%s (%s: %q)", value.Text(v), o[0], o[1])
		}
	}
	return value.Text(v)
}

// unbounded lists the texts of numbers and times of a database that no type of a schema has.
func (c *column) unbounded() []string {
	switch k := c.declared.Type.Kind; {
	case c.declared.Type.List:
	case k.IsFloat() || k == value.Decimal:
		return append([]string{"NaN"}, infinities...)
	case k == value.Date, k == value.DateTime:
		return infinities
	}
	return nil
}

// isOptional reports whether the property may be null.
func (c *column) isOptional() bool {
	if c.declared != nil {
		return !c.declared.NotNull || len(c.tokens) > 0 || c.blanks > 0 && c.typ != nil
	}
	return !c.complete()
}

// complete reports whether no row lacks a value.
func (c *column) complete() bool { return c.values == c.table.rows && c.values > 0 }

// canBeKey reports whether the values identify the rows.
func (c *column) canBeKey() bool {
	if !c.complete() || c.overflow || c.long || c.distinct != c.values {
		return false
	}
	return c.typ == nil && c.doubt == "" || c.typ != nil && !c.typ.typ.List && (c.typ.typ.Kind == value.I64 || c.typ.typ.Kind == value.Date)
}

// isEnum reports whether a text has few values that an enum can have.
func (c *column) isEnum() bool {
	if c.declared != nil && c.declared.Enum != nil {
		return c.typ == nil && !slices.ContainsFunc(c.declared.Enum, func(text string) bool { return !isEnumValue(text) })
	}
	if c.ref != nil || slices.Contains(c.table.key, c) { // others than the values so far will come
		return false
	}
	if c.typ != nil || c.doubt != "" || c.blanks > 0 || c.texts == nil || len(c.texts) < 2 || c.values < 5*int64(len(c.texts)) {
		return false
	}
	for text := range c.texts {
		if !isEnumValue(text) {
			return false
		}
	}
	return true
}

// isEnumValue reports whether an enum of a schema can have a value.
func isEnumValue(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '-' || c == '_')) {
			return false
		}
	}
	return s != "" && len(s) <= 40 && s[len(s)-1] != '-'
}

// included returns how many of the distinct values of c are among those of the column `all`.
func (c *column) included(all *column) int64 {
	n := int64(0)
	i := 0
	for _, h := range c.hashes {
		for i < len(all.hashes) && all.hashes[i] < h {
			i++
		}
		if i < len(all.hashes) && all.hashes[i] == h {
			n++
		}
	}
	return n
}
