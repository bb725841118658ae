package tableimport

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// TestBounds reads more values than a table may have, and makes more bytes than a load may have.
func TestBounds(t *testing.T) {
	f := &File{Path: filepath.Join(t.TempDir(), "x"), Name: "items.csv"}
	if err := os.WriteFile(f.Path, []byte("slug,n\na,1\nb,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]bool{0: true, 4: true, 3: false} {
		r, err := f.record(most).Open(record.Options{Format: record.CSV})
		if err != nil {
			t.Fatal(err)
		}
		r.Select(r.Columns())
		for err == nil {
			_, err = r.Next()
		}
		var large *engine.TooLarge
		if got := errors.Is(err, io.EOF); got != want || !got && !errors.As(err, &large) {
			t.Errorf("%d values: %v", most, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: "node Item { slug: String @key  n: I64 }"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const text = `{"sources":{"items.csv":{"node":"Item","set":{"slug":"slug","n":"n"}}}}`
	const whole = `{"type":"Item","data":{"slug":"a","n":1}}` + "\n" + `{"type":"Item","data":{"slug":"b","n":2}}` + "\n"
	for most, want := range map[int64]bool{0: true, int64(len(whole)): true, int64(len(whole)) - 1: false} {
		in, err := New(context.Background(), f, text, schema, engine.Merge, most)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		var large *engine.TooLarge
		if (err == nil) != want || want && string(b) != whole || !want && !errors.As(in.Explain(context.Background(), err), &large) {
			t.Errorf("%d bytes: %v %s", most, err, b)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPlaces takes the places of owners, which do not take those of each other.
func TestPlaces(t *testing.T) {
	var p places
	var backs []func()
	take := func(owner string, want bool) {
		t.Helper()
		back, err := p.take(owner)
		var busy *engine.Busy
		if (err == nil) != want || err != nil && !errors.As(err, &busy) {
			t.Errorf("%s: %v", owner, err)
		}
		if err == nil {
			backs = append(backs, back)
		}
	}
	for _, owner := range []string{"a", "b", "c", "d"} {
		take(owner, true)
		take(owner, true)
		take(owner, false)
	}
	take("e", false) // there are no more
	backs[0]()
	backs[0]()
	take("e", true)
	take("e", false)
	for _, back := range backs {
		back()
	}
	if p.all != 0 || len(p.used) != 0 {
		t.Errorf("%d places are left, of %v", p.all, p.used)
	}
}

// TestGone opens an upload that went meanwhile.
func TestGone(t *testing.T) {
	_, err := Propose(t.Context(), &File{Path: filepath.Join(t.TempDir(), "x"), Name: "items.csv"}, nil)
	var gone *engine.NotFound
	if !errors.As(err, &gone) || gone.What != "upload" {
		t.Error(err)
	}
}

// TestRecordsRead counts the records of a file while it is read, and forgets them at the end.
func TestRecordsRead(t *testing.T) {
	f := &File{Path: filepath.Join(t.TempDir(), "x"), Name: "items.csv"}
	if err := os.WriteFile(f.Path, []byte("slug\na\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := f.Reading()
	r, err := f.record(0).Open(record.Options{Format: record.CSV})
	if err != nil {
		t.Fatal(err)
	}
	r.Select(r.Columns())
	for want := range int64(3) {
		if got := RecordsRead(f.Path); got != want {
			t.Errorf("%d records read, want %d", got, want)
		}
		if _, err := r.Next(); (err == nil) != (want < 2) {
			t.Fatal(err)
		}
	}
	done()
	if got := RecordsRead(f.Path); got != 0 {
		t.Errorf("after the end, %d records read", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
