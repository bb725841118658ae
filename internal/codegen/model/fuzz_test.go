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
		if got := PackageName(name); !token.IsIdentifier(got) {
			t.Errorf("PackageName(%q) = %q is no identifier", name, got)
		}
	})
}

func FuzzECMASafe(f *testing.F) {
	for _, s := range []string{`^[a-z]+$`, `a{2,}`, `(?:x)`, `[^\]]`, `\`, `{`, `[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, re string) { ecmaSafe(re) })
}
