package strictyaml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestFaults checks the reports about each text. The texts are in a small file format that uses
// every reading method.
func TestFaults(t *testing.T) {
	tests := []struct{ name, src string }{
		{"empty", ""},
		{"only a comment", "# nothing\n"},
		{"good", "---\nname: a\ncount: 3\nlist: [x, \"y\"]\nkind: red\nmap: {k: v}\n"},
		{"crlf", "name: a\r\ncount: x\r\n"},
		{"unknown key", "name: a\ncuont: 3\n"},
		{"unknown key far from any", "name: a\nsomething: 3\n"},
		{"unknown key after wide letters", "name: a\nmap: {\"äöü\": v, \"äöü\": w}\n"},
		{"several at once", "cuont: 3\nlist: 4\nkind: blue\n"},
		{"duplicate key", "name: a\nname: b\n"},
		{"missing", "count: 3\n"},
		{"number for a string", "name: 007\n"},
		{"boolean for a string", "name: true\n"},
		{"nothing for a string", "name:\n"},
		{"empty string", "name: ''\n"},
		{"string for a number", "name: a\ncount: three\n"},
		{"number too large", "name: a\ncount: 11\n"},
		{"number past 64 bits", "name: a\ncount: 99999999999999999999\n"},
		{"hexadecimal number", "name: a\ncount: 0x1\n"},
		{"mapping for a list", "name: a\nlist: {x: 1}\n"},
		{"list for a mapping", "- name\n"},
		{"scalar for a mapping", "name\n"},
		{"list with other things", "name: a\nlist: [x, 1, [y], x]\n"},
		{"text with a colon in a list of a mapping", "name: a\nmap: {k: [x, sso:eve, y]}\n"},
		{"text with a colon, alone", "name: a\nmap: {k: [sso:eve]}\n"},
		{"text with two colons", "name: a\nmap: {k: [urn:x:eve]}\n"},
		{"text with a colon at its end", "name: a\nmap: {k: [sso:]}\n"},
		{"text with a colon and a blank", "name: a\nlist:\n  - sso: eve # all of them\n"},
		{"text with a colon on lines of their own", "name: a\nmap: {k: [\n  x,\n  sso:eve,\n]}\n"},
		{"text with a colon after wide letters", "name: a\nmap: {äöü: [ö, sso:eve]}\r\n"},
		{"quoted text with a colon", "name: a\nmap: {k: [\"sso:eve\"]}\n"},
		{"mapping of two for a string", "name: a\nlist:\n  - a: b\n    c: d\n"},
		{"flow mapping for a string", "name: a\nlist: [{a: b}]\n"},
		{"block text", "name: |\n  a\n  b\n"},
		{"anchor", "name: &a x\n"},
		{"alias", "name: *a\n"},
		{"merge key", "<<: {name: a}\n"},
		{"tag", "name: !!str a\n"},
		{"explicit key", "? name\n: a\n"},
		{"two documents", "name: a\n---\nname: b\n"},
		{"unclosed quote", "name: \"a\n"},
		{"unclosed list", "name: a\nlist: [x, y\n"},
		{"bad indentation", "name: a\n  count: 3\n count: 4\n"},
		{"tab", "map:\n\tk: v\n"},
		{"not utf-8", "name: a\nlist: [\xff]\n"},
		{"control character", "name: a\x00\n"},
		{"deep", "list: " + strings.Repeat("[", 100) + "\n"},
		{"deep entries", strings.Repeat("- ", 100) + "x\n"},
		{"large", "# " + strings.Repeat("x", MaxBytes)},
		{"collection as a key", "{[a]: b}\n"},
	}
	var b strings.Builder
	for _, tt := range tests {
		fmt.Fprintf(&b, "== %s\n%s\n", tt.name, readSample(Read("f.yaml", []byte(tt.src))))
	}
	golden.Check(t, "testdata/faults.golden", []byte(b.String()))
}

// readSample reads a file in the format of these tests and describes its content.
func readSample(r *Reader) string {
	root := r.Root()
	f, ok := root.Fields("the file", "name", "count", "list", "kind", "map")
	if ok {
		root.Require(f, "name", "the file").Text("name")
		f["count"].Int("count", 0, 10)
		f["list"].Texts("list")
		f["kind"].OneOf("kind", "red", "green")
		entries, _ := f["map"].Entries("map")
		for _, e := range entries {
			if e.Value.IsList() {
				e.Value.Texts(e.Key)
			}
		}
	}
	if faults := r.Faults(); len(faults) > 0 {
		return faults.Error()
	}
	if !ok {
		return "nothing"
	}
	return "fine"
}

// TestSecret reads texts that contain the word secret. No report may repeat that word.
func TestSecret(t *testing.T) {
	for _, src := range []string{
		"secret: 1\nsecret: 2\n",
		"secret: [\n",
		"\"secret\n",
		"secret: &secret x\n",
		"name: a\nkind: secret\n",
		"name: a\nlist: [secret, secret]\n",
		"{secret: x, secret}\n",
		"map: {k: [x:secret]}\n",
		"list:\n  - secret: x\n",
		"secret\n  secret:\n secret",
	} {
		got := readSample(ReadSecret("f.yaml", []byte(src)))
		if strings.Contains(got, "secret") || got == "fine" {
			t.Errorf("%q: %s", src, got)
		}
	}
}

func TestCodesAreInOrder(t *testing.T) {
	for i, c := range Codes() {
		if want := fmt.Sprintf("C%d", i+1); string(c.Code) != want || c.Purpose == "" {
			t.Errorf("code %d is %s (%q), expected %s with a purpose", i, c.Code, c.Purpose, want)
		}
	}
}

// FuzzRead checks that no text makes the reader panic, and that the positions of faults are within
// the text.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"name: a\nlist: [x]\n", "a: {b: c}\n- d", "? a\n: b", "a: |\n  b\n", "\"", "a: 'b", "{a, b: }", "- - - x", "%YAML 1.2\n---\n", "a:\r\n b", "é: ü\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r := Read("f.yaml", src)
		readSample(r)
		lines := strings.Count(string(src), "\n") + 1
		for _, d := range r.Faults() {
			s := d.Span
			if s.Start.Line < 1 || s.Start.Line > lines || s.Start.Column < 1 || s.Start.Offset > s.End.Offset || s.End.Offset > len(src) {
				t.Errorf("%q: span %+v of %s", src, s, d.Message)
			}
		}
	})
}

// TestByteOrderMark reads the file of a Windows editor. The positions are those without the mark.
func TestByteOrderMark(t *testing.T) {
	r := Read("a.yaml", []byte("\ufeffname: x\n"))
	if entries, _ := r.Root().Entries("a.yaml"); len(r.Faults()) > 0 || len(entries) != 1 || entries[0].Key != "name" {
		t.Errorf("%v, %v", entries, r.Faults())
	}
}
