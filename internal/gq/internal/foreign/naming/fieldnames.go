package naming

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// suffixes are the operators that GraphQL servers append to the name of a property.
var suffixes = []string{"_not_contains", "_not_starts_with", "_not_ends_with", "_not_in", "_in", "_not", "_includes", "_matches", "_like", "_ilike", "_icontains", "_startswith", "_endswith",
	"_is_null", "_isnull", "_gte", "_gt", "_lte", "_lt", "_contains", "_starts_with", "_ends_with", "_ne", "_eq"}

// Suffixed returns the property and the operator that a name such as rows_gt means, or nil.
func (r *Vocabulary) Suffixed(typ, name string) (p *catalog.Property, op string) {
	for _, s := range suffixes {
		if base, ok := strings.CutSuffix(strings.ToLower(name), s); ok && r.Property(typ, base) != nil {
			return r.Property(typ, base), s[1:]
		}
	}
	return nil, ""
}

// Written returns the type and the statement that the name of a field means.
func (r *Vocabulary) Written(field string) (typ, statement string) {
	name := Plain(field)
	for _, v := range verbs {
		rest, ok := strings.CutPrefix(name, v.prefix)
		if !ok {
			continue
		}
		if typ := r.writtenType(rest); typ != "" {
			return typ, v.statement
		}
	}
	panic(refuse.GiveUp{})
}

// writtenType returns the type in a name such as person, manyPerson, person_one, person_by_pk or personByEmail.
func (r *Vocabulary) writtenType(name string) string {
	find := func(name string) string {
		if t := r.PluralType(name); r.Schema.Node(t) != nil {
			return t
		}
		return ""
	}
	if typ := find(name); typ != "" {
		return typ
	}
	for _, affix := range []string{"bypk", "byid", "one", "many", "unique"} {
		for _, cut := range []func(string, string) (string, bool){strings.CutSuffix, strings.CutPrefix} {
			if rest, ok := cut(name, affix); ok {
				if typ := find(rest); typ != "" {
					return typ
				}
			}
		}
	}
	return r.typeByKey(name)
}

// verbs maps the beginnings of the fields of GraphQL mutations to statements.
var verbs = []struct{ prefix, statement string }{{"create", "insert"}, {"insert", "insert"}, {"add", "insert"}, {"upsert", "upsert"}, {"merge", "upsert"}, {"save", "upsert"}, {"update", "update"},
	{"set", "update"}, {"delete", "delete"}, {"remove", "delete"}}
