package foreign

import (
	"slices"
	"strings"
)

// recordset is a parameter with a list of values or of records, in the place of a table.
type recordset struct {
	list    string // the name of the parameter
	element string // the variable of an element
	fields  []recordField
	scalar  bool // the elements are values
}

// recordField is a field of a record, and its type if the text says it.
type recordField struct{ name, typ string }

// recordFunctions are the functions of PostgreSQL that make rows of records in JSON.
var recordFunctions = []string{"jsonb_to_recordset", "json_to_recordset"}

// listAhead reports whether a table after FROM is a list in a parameter.
func (r *rewriter) listAhead() bool {
	for i := 0; ; i++ {
		t := r.peek(i)
		if t.kind == end {
			return false
		}
		if t.are("from") {
			return r.isAt(i+2, "(") && (r.peek(i+1).are("unnest") || slices.Contains(recordFunctions, strings.ToLower(r.peek(i+1).text)))
		}
	}
}

// recordset reads unnest($1::text[]) AS s, unnest($1, $2) AS t(a, b) or jsonb_to_recordset($1) AS x(a text, b int).
func (r *rewriter) recordset() *recordset {
	records := !r.is("unnest")
	r.word()
	r.expect("(")
	var lists []recordField
	for !r.accept(")") {
		r.accept(",")
		t := r.next()
		if t.kind != dollar || r.known(t.text) {
			panic(giveUp{})
		}
		f := recordField{name: t.text}
		if r.accept("::") {
			f.typ = scalars[strings.ToLower(r.peek(0).text)]
			r.castTo("")
		}
		lists = append(lists, f)
	}
	s := &recordset{}
	r.accept("as")
	alias := ""
	if r.peek(0).kind == word && !r.starts() {
		alias = r.word()
	}
	if r.accept("(") {
		for !r.accept(")") {
			r.accept(",")
			f := recordField{name: r.word()}
			if records {
				f.typ = scalars[strings.ToLower(r.peek(0).text)]
				r.castTo("")
			} else if len(s.fields) < len(lists) {
				f.typ = lists[len(s.fields)].typ
			}
			s.fields = append(s.fields, f)
		}
	}
	switch {
	case records && len(lists) == 1 && len(s.fields) > 0:
		s.list, s.element = lists[0].name, alias
	case !records && len(lists) == 1 && len(s.fields) < 2:
		s.list, s.element, s.scalar = lists[0].name, alias, true
		if len(s.fields) == 1 {
			s.fields[0].typ = lists[0].typ
		} else {
			s.fields = []recordField{{alias, lists[0].typ}}
		}
	case !records && len(lists) == len(s.fields) && len(lists) > 1:
		s.list, s.element = "rows", alias
		r.note("the lists become one list of records, $rows")
	default:
		panic(giveUp{})
	}
	if s.element == "" {
		s.element = "row"
	}
	if r.known(s.element) || r.declared(s.element) || r.declared(s.list) {
		panic(giveUp{})
	}
	return s
}

// value reads a value that may be a field of a record. It returns the index of the field if the value is one, or -1.
func (s *recordset) value(r *rewriter, read func() string) (out string, field int) {
	start := r.at
	if r.is(s.element, ".") {
		r.skipTwo()
	}
	if t := r.peek(0); t.kind == word {
		for i, f := range s.fields {
			if !strings.EqualFold(f.name, t.text) {
				continue
			}
			r.next()
			for r.accept("::") {
				r.castTo("")
			}
			if r.isOne(",", "from", "where", "returning", "on", ";") || r.peek(0).kind == end {
				return s.field(i), i
			}
		}
	}
	r.at = start
	r.fieldsOf(s)
	return read(), -1
}

// field writes a field of an element.
func (s *recordset) field(i int) string {
	if s.scalar {
		return "$" + lower(s.element)
	}
	return "$" + lower(s.element) + "." + s.fields[i].name
}

// fieldsOf lets names in expressions mean the fields.
func (r *rewriter) fieldsOf(s *recordset) {
	for i, f := range s.fields {
		r.values[f.name] = s.field(i)
	}
	if !s.scalar {
		r.vars[s.element] = ""
	}
}

// insertList reads SELECT over a list after INSERT INTO Person (a, b): an insert for each element.
func (r *rewriter) insertList(in *inserting) {
	if len(r.match)+len(r.statements) > 0 {
		panic(giveUp{})
	}
	r.expect("select")
	columns := r.at
	r.skipTo("from")
	r.expect("from")
	s := r.recordset()
	after := r.at
	r.at = columns
	row := map[string]string{}
	for i, name := range in.names {
		if i > 0 {
			r.expect(",")
		}
		value, field := s.value(r, func() string { return r.initial(in.typ, name) })
		row[name] = value
		if field < 0 {
			continue
		}
		s.fields[field].typ = r.typeOfField(in.typ, name)
	}
	r.expect("from")
	r.at = after
	in.rows = []map[string]string{row}
	statements := r.conflicting(in, false)
	r.forEach(s, statements[0])
}

// forEach declares the list, and writes the block that runs a statement for each element.
func (r *rewriter) forEach(s *recordset, statement string) {
	var types []string
	for _, f := range s.fields {
		if f.typ == "" {
			panic(giveUp{})
		}
		types = append(types, f.name+": "+f.typ)
	}
	if s.scalar {
		r.params = append(r.params, "$"+s.list+": ["+strings.TrimSuffix(s.fields[0].typ, "?")+"]")
	} else {
		r.params = append(r.params, "$"+s.list+": [{ "+strings.Join(types, ", ")+" }]")
	}
	r.emit("for $" + lower(s.element) + " in $" + s.list + " { " + statement + " }")
}

// typeOfField returns the type of a field of a record that holds values of a property, or the id of an end of an edge.
func (r *rewriter) typeOfField(typ, name string) string {
	p := r.property(typ, name)
	if p == nil {
		return "String"
	}
	t := p.Type
	t.Enum = nil
	return t.String()
}
