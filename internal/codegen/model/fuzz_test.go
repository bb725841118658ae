package model

import (
	"go/token"
	"testing"
)

func FuzzGoName(f *testing.F) {
	for _, s := range []string{"find_user", "p.userId", "2fa", "_", "", "HTTPServer", "ǅ", "été", "a\xffb", "日本", "idÄ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := GoName(name); !token.IsIdentifier(got) || !token.IsExported(got) {
			t.Errorf("GoName(%q) = %q is no exported identifier", name, got)
		}
		if got := GoName(singular(name)); !token.IsIdentifier(got) {
			t.Errorf("the element of %q is %q, which is no identifier", name, got)
		}
		if got := PackageName(name); !token.IsIdentifier(got) {
			t.Errorf("PackageName(%q) = %q is no identifier", name, got)
		}
	})
}

func TestSingular(t *testing.T) {
	for name, want := range map[string]string{
		"authors": "author", "best_friends": "best_friend", "BestFriends": "BestFriend", "cities": "city", "addresses": "address",
		"matches": "match", "boxes": "box", "cases": "case", "people": "person", "salesPeople": "salesPerson", "children": "child",
		"status": "status", "analysis": "analysis", "address": "address", "series": "series", "ties": "tie", "met": "met", "s": "s",
		"as_": "as_", "": "", "_": "_", "données": "donnée", "data": "data",
	} {
		if got := singular(name); got != want {
			t.Errorf("singular(%q) = %q, expected %q", name, got, want)
		}
	}
}

func FuzzECMASafe(f *testing.F) {
	for _, s := range []string{`^[a-z]+$`, `a{2,}`, `(?:x)`, `[^\]]`, `\`, `{`, `[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, re string) { ecmaSafe(re) })
}
