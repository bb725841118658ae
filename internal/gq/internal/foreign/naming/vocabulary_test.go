package naming_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

const schemaText = `
node Person { email: String @key name: String }
node Book { isbn: String @key title: String }
edge Borrowed: Person -> Book { due: Date? }
edge ReportsTo: Person -> Person
`

func vocabulary(t *testing.T) *naming.Vocabulary {
	t.Helper()
	tree, faults := syntax.ParseSchema("schema.pg", schemaText)
	s, more := resolve.Schema(tree)
	if len(faults) > 0 || len(more) > 0 {
		t.Fatal(faults, more)
	}
	return &naming.Vocabulary{Schema: s}
}

func TestTypes(t *testing.T) {
	v := vocabulary(t)
	for name, want := range map[string]string{"person": "Person", "people": "Person", "allBooks": "Book", "BOOKS": "Book", "borrowed": "", "bookings": ""} {
		if got := v.PluralType(name); got != want {
			t.Errorf("%s means the type %q, want %q", name, got, want)
		}
	}
	for column, want := range map[string]string{"src": "from", "target_id": "to", "person_email": "from", "book_isbn": "to", "due": ""} {
		if got := v.EndNamed(v.EdgeType("BORROWED"), column); got != want {
			t.Errorf("%s means the end %q, want %q", column, got, want)
		}
	}
}

func TestRelations(t *testing.T) {
	v := vocabulary(t)
	for _, tt := range []struct{ typ, name, want string }{
		{"Person", "borrowed", "$a borrowed $b"},
		{"Person", "books", "$a borrowed $b"},
		{"Book", "borrowers", "$b borrowed $a"},
		{"Book", "borrowedBy", "$b borrowed $a"},
		{"Person", "reportsTo", "$a reportsTo $b"},
		{"Book", "reportsTo", ""},
	} {
		got := ""
		if l := v.Relation(tt.typ, tt.name); l != nil {
			got = l.Clause("a", "", "b")
		}
		if got != tt.want {
			t.Errorf("%s of %s means %q, want %q", tt.name, tt.typ, got, tt.want)
		}
	}
}
