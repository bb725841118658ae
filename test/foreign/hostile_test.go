package foreign_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestHostile holds what the errors say of the texts in hostile, whose words, literals and groups look like something else. The
// golden file has each text, and the queries that the error offers for it, or the advice that it gives instead. TestOffers runs those of
// SQL and Cypher.
func TestHostile(t *testing.T) {
	s, _ := schemaOf(t, sets+"corpus/library")
	files, err := filepath.Glob("hostile/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			names, texts := blocks(t, file)
			if !slices.IsSorted(names) {
				t.Errorf("%s: the names are not in order", file)
			}
			for _, name := range names {
				_, faults, err := gq.CompileQueriesWithin(t.Context(), gq.Limits{}, s, gq.Source{Name: "query", Text: texts[name]})
				if err != nil {
					t.Fatal(err)
				}
				if !faults.HasErrors() {
					t.Errorf("%s has no error, so it is no text of another language", name)
				}
				x := &text{Name: name, original: texts[name]}
				answer := "  no offer" + advice(faults.Error())
				if x.offered(t, s) {
					answer = "  " + x.offer
				}
				fmt.Fprintf(&b, "%s\n  %s\n%s\n", name, strings.ReplaceAll(texts[name], "\n", "\n  "), answer)
			}
			golden.Check(t, "hostile/"+name+".golden", b.Bytes())
		})
	}
}

// advice returns what an error without an offer says of the first construct, after a colon, or "".
func advice(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	_, help, ok := strings.Cut(first, "(help: ")
	if !ok {
		return ""
	}
	return ": " + strings.TrimSuffix(help, ")")
}
