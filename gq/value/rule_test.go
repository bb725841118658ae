package value

import (
	"math"
	"strings"
	"testing"
)

// ends returns bounds of I32 values.
func ends(lo, hi int32) Bounds {
	least, most := OfI32(lo), OfI32(hi)
	return Bounds{Min: &least, Max: &most}
}

func TestBounds(t *testing.T) {
	half := OfF64(0.5)
	for _, tt := range []struct {
		bounds Bounds
		v      Value
		text   string // the bounds as text
		want   string // the error, or ""
	}{
		{ends(1, 100), OfI32(1), "1..100", ""},
		{ends(1, 100), OfI32(100), "1..100", ""},
		{ends(1, 100), OfI32(0), "1..100", "found 0, expected at least 1"},
		{ends(1, 100), OfI32(101), "1..100", "found 101, expected at most 100"},
		{Bounds{Min: &half}, OfF64(0.25), "0.5..", "found 0.25, expected at least 0.5"},
		{Bounds{Max: &half}, OfF64(math.NaN()), "..0.5", "found NaN, expected at most 0.5"},
		{Bounds{}, OfF64(math.NaN()), "..", ""},
	} {
		got := ""
		if err := tt.bounds.Check(tt.v); err != nil {
			got = err.Error()
		}
		if got != tt.want || tt.bounds.String() != tt.text {
			t.Errorf("%s of %s: found %q, expected %q", tt.bounds, Text(tt.v), got, tt.want)
		}
	}
}

func TestPattern(t *testing.T) {
	p, err := NewPattern("^[a-z]+-[0-9]+$")
	if err != nil || p.String() != "^[a-z]+-[0-9]+$" {
		t.Fatalf("found %v, %v", p, err)
	}
	if err := p.Check(OfString("ab-12")); err != nil {
		t.Error(err)
	}
	if err := p.Check(OfString("AB")); err == nil || err.Error() != `found "AB", expected a text that matches ^[a-z]+-[0-9]+$` {
		t.Errorf("found %v", err)
	}
	if err := p.Check(OfString(strings.Repeat("é", 500))); err == nil || len(err.Error()) > 2*maxShown {
		t.Errorf("the error of a long text is %v", err)
	}
	if _, err := NewPattern("[a-"); err == nil {
		t.Error("a faulty regular expression was accepted")
	}
}
