package follow

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestChanges follows changes of each kind.
func TestChanges(t *testing.T) {
	slow.Test(t)
	w := newWorld(t, tables+`
		INSERT INTO people SELECT i, 'p' || i, repeat('x', 9000), i FROM generate_series(1, 5) i;
		INSERT INTO knows VALUES (1, 2, 2001), (2, 3, NULL);
		INSERT INTO books VALUES ('i1', 'One', 1, 10), ('i2', 'Two', NULL, 20);`)
	w.caughtUp()
	w.omnigraph("load", "--store", w.store, "--mode", "patch", "--new-edges", "--data", w.file("own.ndjson", `{"type":"Person","data":{"no":1,"extra":"kept"}}
{"edge":"Likes","from":"3","to":"1","data":{"why":"mine"}}`))
	for _, statements := range []string{
		"UPDATE people SET age = 99 WHERE id = 1",
		"UPDATE people SET id = 11 WHERE id = 1",
		"BEGIN; UPDATE people SET id = 100 WHERE id = 2; UPDATE people SET id = 2 WHERE id = 3; UPDATE people SET id = 3 WHERE id = 100; COMMIT",
		"BEGIN; INSERT INTO people VALUES (7, 'p7', repeat('y', 9000)); UPDATE people SET id = 8, age = 1 WHERE id = 7; COMMIT",
		"BEGIN; DELETE FROM books WHERE isbn = 'i1'; INSERT INTO books VALUES ('i1', 'Uno', 4, 11); COMMIT",
		"UPDATE books SET owner = 5 WHERE isbn = 'i1'",
		"UPDATE books SET owner = NULL WHERE isbn = 'i1'",
		"UPDATE books SET isbn = 'i3', owner = 5 WHERE isbn = 'i2'",
		"UPDATE knows SET b = 5 WHERE a = 11",
		"DELETE FROM people WHERE id = 5",
		"ALTER TABLE people ADD hobby text; UPDATE people SET hobby = 'chess'",
	} {
		w.exec(statements)
		out, err := w.once()
		if err != nil {
			t.Fatalf("%s: %v\n%s", statements, err, out)
		}
		w.compare()
	}
	export := w.export()
	for _, want := range []string{`"extra":"kept"`, `"edge":"Likes","from":"2","to":"11"`} {
		if !strings.Contains(export, want) {
			t.Errorf("the graph lacks %s, which is its own:\n%.2000s", want, export)
		}
	}

	// A deleted row takes away only what the database has made.
	w.omnigraph("load", "--store", w.store, "--mode", "append", "--data", w.file("mine.ndjson", `{"type":"Person","data":{"no":50,"name":"mine"}}`))
	w.exec("INSERT INTO people VALUES (50, 'theirs', 'their note'); DELETE FROM people WHERE id = 11")
	out, err := w.once()
	if err != nil || !strings.Contains(out, "nodes whose rows were deleted stay") {
		t.Errorf("%v\n%s", err, out)
	}
	w.exec("DELETE FROM people WHERE id = 50")
	if out, err := w.once(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	export = w.export()
	for _, want := range []string{`"no":11`, `"edge":"Likes","from":"2","to":"11"`, `"no":50`} {
		if !strings.Contains(export, want) {
			t.Errorf("the graph lacks %s, which the database did not make:\n%.2000s", want, export)
		}
	}
	if strings.Contains(export, "their note") {
		t.Errorf("the graph has the note of the deleted row:\n%.2000s", export)
	}
}

// file writes a file, and returns its path.
func (w *world) file(name, text string) string {
	w.write(name, text)
	return w.dir + "/" + name
}
