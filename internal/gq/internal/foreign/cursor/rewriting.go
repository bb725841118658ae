package cursor

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// IsSQL reports whether the text begins as a statement of SQL.
func (r *Cursor) IsSQL() bool {
	text := r.Rest()
	for text.Are("(") {
		text = text[1:]
	}
	return text.One([]string{"select", "update", "with", "begin", "start"}) || text.Are("insert", "into") || text.Are("delete", "from")
}

// WithoutArray drops ARRAY before a list in brackets.
func (r *Cursor) WithoutArray() {
	var out []lex.Token
	for i, t := range r.Tokens {
		if !lex.Tokens(r.Tokens[i:]).Are("array", "[") {
			out = append(out, t)
		}
	}
	r.Tokens = out
}

// WithoutTransaction drops BEGIN and COMMIT: the statements of a query are one commit.
func (r *Cursor) WithoutTransaction() {
	if !r.IsOne("begin", "start") {
		return
	}
	open := slices.IndexFunc(r.Tokens, func(t lex.Token) bool { return t.Text == ";" })
	refuse.If(open < 0 || open > 2)
	rest := r.Tokens[open+1:]
	if n := len(rest); n > 0 && rest[n-1].Text == ";" {
		rest = rest[:n-1]
	}
	if n := len(rest); n > 0 && rest[n-1].Are("commit") {
		rest = rest[:n-1]
	}
	r.Tokens, r.At = rest, 0
}

// NamedPlaceholders writes :name, @name and %(name)s as $name.
func (r *Cursor) NamedPlaceholders() {
	var out []lex.Token
	for i := 0; i < len(r.Tokens); i++ {
		t, rest := r.Tokens[i], lex.Tokens(r.Tokens[i+1:])
		before := lex.Token{}
		if i > 0 {
			before = r.Tokens[i-1]
		}
		switch name := rest.At(0); {
		case t.Kind == lex.Mark && (t.Text == ":" || t.Text == "@") && name.Kind == lex.Word && !name.Space && before.Kind != lex.Dollar && (before.Kind == lex.Mark || t.Space):
			out = append(out, lex.Token{Kind: lex.Dollar, Text: name.Text, Space: t.Space})
			i++
		case t.Kind == lex.Mark && t.Text == "%" && rest.Are("(") && rest.At(1).Kind == lex.Word && rest.At(2).Text == ")" && rest.At(3).Are("s"):
			out = append(out, lex.Token{Kind: lex.Dollar, Text: rest.At(1).Text, Space: t.Space})
			i += 4
		default:
			out = append(out, t)
		}
	}
	r.Tokens = out
}

// Unqualify drops the alias before the columns of the table, from an index on: x.total becomes total.
func (r *Cursor) Unqualify(alias string, from int) {
	out := slices.Clone(r.Tokens[:from])
	at, dot := r.At, false // whether the dot after the alias comes next
	for i := from; i < len(r.Tokens); i++ {
		t := r.Tokens[i]
		name := t.Kind == lex.Word && t.Text == alias && lex.Tokens(r.Tokens[i:]).At(1).Text == "." && (i == 0 || r.Tokens[i-1].Text != ".")
		if name || dot {
			dot = name
			if i < r.At {
				at--
			}
			continue
		}
		out = append(out, t)
	}
	r.Tokens, r.At = out, at
}

// InlineTables puts each table that WITH x AS (SELECT …) defines in the place of its name after FROM.
func (r *Cursor) InlineTables() {
	for r.Is("with") && r.Peek(1).Kind == lex.Word && r.Peek(2).Are("as") && r.IsAt(3, "(") {
		start := r.At
		name := r.Peek(1).Text
		r.At += 3
		body := r.At
		r.SkipGroup()
		table := slices.Clone(r.Tokens[body:r.At])
		rest := slices.Clone(r.Tokens[r.At:])
		refuse.If(!r.IsOne(",", "select"))
		var out []lex.Token
		for i := 0; i < len(rest); i++ {
			out = append(out, rest[i])
			after := lex.Tokens(rest[i+1:])
			if !rest[i].Are("from") || after.At(0).Kind != lex.Word || after.At(0).Text != name {
				continue
			}
			out = append(out, table...)
			i++
			if next := after.At(1); next.Kind != lex.Word || lex.StartsPart(next) || next.Are("join") || next.Are("left") || next.Are("inner") {
				out = append(out, lex.Token{Kind: lex.Word, Text: name, Space: true})
			}
		}
		if rest[0].Text == "," { // the next table
			out[0] = lex.Token{Kind: lex.Word, Text: "with"}
		}
		refuse.If(len(out) > MaxSteps/4)
		r.Tokens = append(slices.Clone(r.Tokens[:start]), out...)
		r.At = start
	}
}

// EdgeArguments reads the properties of an edge in parentheses in a traversal, as in $a wrote(role: translator) $w, as
// if they stood in braces.
func (r *Cursor) EdgeArguments() {
	end := r.At + r.Rest().GroupLen() - 1
	r.Tokens = slices.Clone(r.Tokens)
	refuse.If(r.Tokens[end].Text != ")")
	r.Tokens[r.At].Text, r.Tokens[end].Text = "{", "}"
}

// IgnoreCase replaces { contains: "a", mode: insensitive } of Prisma by { icontains: "a" }.
func (r *Cursor) IgnoreCase() {
	names := map[string]string{"contains": "icontains", "equals": "eqi", "startswith": "istartswith", "endswith": "iendswith"}
	t := r.Peek(1)
	to := names[naming.Plain(t.Text)]
	if to == "" || !r.IsAt(2, ":") || r.Peek(3).Kind != lex.Text && r.Peek(3).Kind != lex.Dollar {
		return
	}
	i := r.At + 4
	if r.IsAt(4, ",") {
		i++
	}
	if mode := lex.Tokens(r.Tokens[min(i, len(r.Tokens)):]); !mode.Are("mode", ":", "insensitive", "}") {
		return
	}
	r.Tokens = slices.Clone(r.Tokens)
	r.Tokens[r.At+1].Text = to
	r.Tokens = slices.Delete(r.Tokens, r.At+4, i+3)
}
