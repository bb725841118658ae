package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestNumbers pins the numbers of the kinds, because they are stored. An update of the golden file
// may only add lines.
func TestNumbers(t *testing.T) {
	var b bytes.Buffer
	for _, k := range Kinds() {
		fmt.Fprintf(&b, "%d %s\n", k, k)
	}
	const file = "testdata/numbers.golden"
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b.Bytes(), stored) {
		t.Fatalf("the numbers of kinds are\n%s\nbut stored data has\n%s", b.Bytes(), stored)
	}
	golden.Check(t, file, b.Bytes())
}

// TestRows checks that every row is complete and that its columns agree with each other.
func TestRows(t *testing.T) {
	names, functions := map[string]bool{invalidName: true}, map[string]bool{}
	for i := range rows {
		r := &rows[i]
		k := r.kind
		if i > 0 && rows[i-1].kind >= k {
			t.Errorf("%s is out of order: the rows must be in the order of their numbers", r.name)
		}
		if names[r.name] || r.name == "" {
			t.Errorf("the name %q of kind %d is empty or taken", r.name, k)
		}
		if r.literal != "" && functions[r.literal] {
			t.Errorf("%s and another kind have the literal function %s", r.name, r.literal)
		}
		names[r.name], functions[r.literal] = true, true
		if r.storage == InNone || r.json == NoJSON || r.wire == "" || r.wanted == "" {
			t.Errorf("the row of %s lacks a column: %+v", r.name, r)
		}
		if (k == Vector) != (r.goType == nil) || (k == Vector) != (r.example == "") {
			t.Errorf("%s has the Go type %v and the example %q", r.name, r.goType, r.example)
		}
		if k.HasText() != (r.format != nil) || (r.integer != "") != (r.ofInteger != nil) || k.HasText() && !r.storage.IsFixed() {
			t.Errorf("%s has some but not all columns of a kind with a text of its own", r.name)
		}
		if k.IsNumeric() != (r.json == JSONNum || r.json == JSONWide) {
			t.Errorf("%s has the form %d in JSON", r.name, r.json)
		}
		var back Kind
		if text, _ := k.MarshalText(); back.UnmarshalText(text) != nil || back != k {
			t.Errorf("%s is read as %s", k, back)
		}
	}
	if got := Kind(200); got.IsKind() || got.String() != "Kind(200)" || got.HasBits() || got.IsComparable() {
		t.Errorf("200 is a kind: %s", got)
	}
	if Invalid.IsKind() || Invalid.String() != invalidName {
		t.Error("Invalid is a kind")
	}
}

// TestBits checks that OfBits inverts Bits, and that equal values have equal texts.
func TestBits(t *testing.T) {
	for _, k := range Kinds() {
		if !k.HasBits() {
			continue
		}
		for _, bits := range []uint64{0, 1} {
			v := OfBits(k, bits)
			if again := OfBits(k, v.Bits()); v.Kind() != k || !Equal(v, again) {
				t.Errorf("%s from the bits %d is %s; the value from its bits is %s", k, bits, Text(v), Text(again))
			}
			if k.HasText() {
				if again, err := k.Parse(Text(v)); err != nil || !Equal(v, again) {
					t.Errorf("%s %s is parsed as %v, %v", k, Text(v), again, err)
				}
			}
		}
		if order, ok := Compare(OfBits(k, 0), OfBits(k, 1)); k.IsComparable() != ok || ok && !k.IsFloat() && order != -1 {
			t.Errorf("Compare of %s: %d, %v", k, order, ok)
		}
	}
}

// TestExamples checks that the Go type of every kind can read the example of its row.
func TestExamples(t *testing.T) {
	for _, k := range Kinds() {
		if k.GoType() == nil {
			continue
		}
		v, text := reflect.New(k.GoType()), k.Example()
		if k.JSON() == JSONWide { // a Go integer has no quotes
			text = strings.Trim(text, `"`)
		}
		if err := json.Unmarshal([]byte(text), v.Interface()); err != nil || v.Elem().IsZero() {
			t.Errorf("%s reads its example %s as %v, %v", k.GoType(), k.Example(), v.Elem(), err)
		}
		if k.HasText() {
			if _, err := k.Parse(strings.Trim(k.Example(), `"`)); err != nil {
				t.Errorf("%s does not parse its example: %v", k, err)
			}
		}
	}
}
