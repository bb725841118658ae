package plan_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// mine is a query with a declared parameter and two of actor().
var mine = &plan.Query{
	Name: "mine",
	Params: []plan.Param{
		{Name: "name", Type: value.Of(value.String)},
		{Name: "actor().groups", Type: value.Type{Kind: value.String, List: true}, Caller: "groups"},
		{Name: "actor().level", Type: value.Of(value.I32).Optional(), Caller: "level"},
	},
	Read: &plan.Read{Columns: []plan.Column{{Name: "level", Expr: plan.ParamRef{Index: 2}, Type: value.Of(value.I32).Optional()}}, Limit: plan.NoLimit},
}

// TestCallerEncoding encodes a query that uses actor(). Versions that do not know actor() must refuse it by its first byte.
func TestCallerEncoding(t *testing.T) {
	text := plan.Encode(mine)
	if text[0] != 7 {
		t.Errorf("the first byte is %d", text[0])
	}
	got, err := plan.Decode(text)
	if err != nil || !reflect.DeepEqual(mine, got) {
		t.Errorf("found %+v, %v", got, err)
	}
	plain := *mine
	plain.Params = mine.Declared()
	if text := plan.Encode(&plain); text[0] != 6 {
		t.Errorf("without actor() the first byte is %d", text[0])
	}
}

func TestDeclaredParameters(t *testing.T) {
	if got := mine.Declared(); len(got) != 1 || got[0].Name != "name" {
		t.Errorf("declared %v", got)
	}
	if got := strings.Join(mine.Members(), " "); got != "actor().groups actor().level" {
		t.Errorf("members %s", got)
	}
}

// TestDeclareClaims declares claims. A test without an error gives the type.
func TestDeclareClaims(t *testing.T) {
	for _, tt := range []struct{ name, text, want, err string }{
		{"region", "String", "String?", ""},
		{"teams", "[String]", "[String]?", ""},
		{"since", "DateTime", "DateTime?", ""},
		{"isAdmin2", "Bool", "Bool?", ""},
		{"id", "String", "", "has the name of a member that actor() always has"},
		{"groups", "[String]", "", "has the name of a member that actor() always has"},
		{"Region", "String", "", "is not a name"},
		{"https://x/y", "String", "", "is not a name"},
		{"", "String", "", "is not a name"},
		{"region", "Text", "", `the type "Text"; write one of String, Bool`},
		{"region", "Blob", "", `the type "Blob"`},
		{"region", "String?", "", `the type "String?"`},
		{"region", "[String", "", `the type "[String"`},
		{"region", "[[String]]", "", `the type "[[String]]"`},
		{"first", "String", "", "has the type String here and I64 elsewhere"},
	} {
		claims := plan.Claims{"first": value.Of(value.I64).Optional()}
		err := claims.Declare(tt.name, tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %s: %v, want %q", tt.name, tt.text, err, tt.err)
			}
			continue
		}
		if got, _ := claims.TypeOf(tt.name); err != nil || got.String() != tt.want {
			t.Errorf("%s: %s: %s, %v", tt.name, tt.text, got, err)
		}
	}
}

func TestMisfit(t *testing.T) {
	for _, tt := range []struct{ level, want string }{
		{"I32", ""},
		{"", "it uses actor().level, but the configuration maps no claim level; add it to server.claims"},
		{"String", "it uses actor().level as I32, but the configuration gives the claim the type String"},
	} {
		var claims plan.Claims
		if tt.level != "" {
			if err := claims.Declare("level", tt.level); err != nil {
				t.Fatal(err)
			}
		}
		if got := claims.Misfit(mine); got != tt.want {
			t.Errorf("%q: %q", tt.level, got)
		}
	}
}
