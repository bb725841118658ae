package reconcile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const format1 = "testdata/format1.revision"

func sample(t testing.TB) *Revision {
	r := next(nil, sources(t, "people", people, "things", "// <ä> & \"quoted\"\n"+things))
	r.Applied, r.Actor = 1_700_000_000_000_000, "act-ada"
	return r
}

// TestFormat1 reads the fixture of the format and writes the same bytes again.
func TestFormat1(t *testing.T) {
	b, err := os.ReadFile(format1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decode(format1, b)
	if err != nil {
		t.Fatal(err)
	}
	r.head = ""
	if want := sample(t); !reflect.DeepEqual(r, want) {
		t.Errorf("read %+v, want %+v", r, want)
	}
	if got := encode(r); !bytes.Equal(got, b) {
		t.Errorf("written again it is\n%s", got)
	}
}

// TestDamagedRevision checks that a change of any byte of a revision is detected.
func TestDamagedRevision(t *testing.T) {
	whole := encode(sample(t))
	var corrupt *engine.Corrupt
	var later *FormatError
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		if _, err := decode("r", b); !errors.As(err, &corrupt) && !errors.As(err, &later) {
			t.Fatalf("with byte %d changed: %v", i, err)
		}
		if _, err := decode("r", whole[:i]); !errors.As(err, &corrupt) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	signed := func(body string) []byte {
		return []byte(revisionMagic + strconv.Itoa(RevisionFormat) + " " + digest([]byte(body)) + "\n" + body)
	}
	for name, b := range map[string][]byte{
		"no object":    signed("[]"),
		"number 0":     signed(`{"revision":0,"config_digest":"` + (&Revision{Graphs: nil}).digest() + `","graphs":[]}`),
		"unknown key":  signed(`{"revision":1,"config_digest":"` + (&Revision{Graphs: nil}).digest() + `","graphs":[],"colour":"red"}`),
		"more behind":  signed(`{"revision":1,"config_digest":"` + (&Revision{Graphs: nil}).digest() + `","graphs":[]} {}`),
		"wrong digest": signed(`{"revision":1,"config_digest":"sha256:00","graphs":[]}`),
		"path as id":   signed(`{"revision":1,"config_digest":"` + (&Revision{Graphs: []Graph{{ID: "../x"}}}).digest() + `","graphs":[{"graph_id":"../x"}]}`),
		"twice":        signed(`{"revision":1,"config_digest":"` + (&Revision{Graphs: []Graph{{ID: "x"}, {ID: "x"}}}).digest() + `","graphs":[{"graph_id":"x"},{"graph_id":"x"}]}`),
	} {
		if r, err := decode("r", b); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "omnigraph cluster apply") {
			t.Errorf("%s: read %+v, %v", name, r, err)
		}
	}
	told := sample(t)
	told.Message = "why"
	if r, err := decode("r", encode(told)); err != nil || r.Message != "why" || !bytes.HasPrefix(encode(told), []byte(revisionMagic+"4 ")) {
		t.Errorf("a message: %+v, %v", r, err)
	}
	_, body, _ := bytes.Cut(encode(withQueries(t)), []byte("\n"))
	if _, err := decode("r", append([]byte(revisionMagic+"1 "+digest(body)+"\n"), body...)); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "its format has not") {
		t.Errorf("queries in format 1: %v", err)
	}
	if _, err := decode("r", []byte(revisionMagic+"6 sha256:00\nanything")); !errors.As(err, &later) || later.Format != 6 {
		t.Errorf("a later format: %v", err)
	}
}

// TestReadRevision reads folders without a revision, with a valid one, and with a corrupt one.
func TestReadRevision(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{dir, filepath.Join(dir, "none")} {
		if r, err := ReadRevision(fs.OS(), at); r != nil || err != nil {
			t.Errorf("%s: %v, %v", at, r, err)
		}
	}
	c := clusterOn(fs.OS(), dir)
	if err := c.record(t.Context(), sample(t)); err != nil {
		t.Fatal(err)
	}
	r, err := c.Revision(t.Context())
	if err == nil {
		r.head = ""
	}
	if err != nil || !reflect.DeepEqual(r, sample(t)) || r.Graph("people") == nil || r.Graph("none") != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, RevisionFile), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	var corrupt *engine.Corrupt
	if _, err := c.Revision(t.Context()); !errors.As(err, &corrupt) {
		t.Error(err)
	}
	if _, err := c.Plan(t.Context(), sources(t, "people", people)); !errors.As(err, &corrupt) {
		t.Errorf("a plan over it: %v", err)
	}
}

// FuzzRevision checks that no file makes the reader panic. Encoding a revision that was read, and
// decoding it again, must give the same revision.
func FuzzRevision(f *testing.F) {
	f.Add(encode(sample(f)))
	f.Add(encode(withQueries(f)))
	f.Add([]byte(revisionMagic + "1 "))
	body := []byte(`{"revision":1,"config_digest":"` + (&Revision{Graphs: nil}).digest() + `","applied_at":0,"actor":"","graphs":[]}`)
	f.Add(append([]byte(revisionMagic+"1 "+digest(body)+"\n"), body...))
	f.Fuzz(func(t *testing.T, b []byte) {
		// The fuzzer cannot guess a digest, so add the right digest to each body that it generates.
		if _, body, ok := bytes.Cut(b, []byte("\n")); ok {
			b = append([]byte(revisionMagic+"2 "+digest(body)+"\n"), body...)
		}
		r, err := decode("r", b)
		if err != nil {
			return
		}
		for i := range r.Graphs {
			if s := r.Graphs[i].Stored; s != nil {
				_, _ = tool.DecodeCatalog(s.Contract)
				queryChanges(nil, s)
			}
		}
		again, err := decode("r", encode(r))
		if err != nil || !bytes.Equal(encode(r), encode(again)) {
			t.Errorf("%q: read %+v, then %+v, %v", b, r, again, err)
		}
	})
}
