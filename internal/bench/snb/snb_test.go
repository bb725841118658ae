package snb_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

func generate(t *testing.T, scale float64, seed uint64) *snb.Network {
	t.Helper()
	n, err := snb.Generate(scale, seed)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ndjson(t *testing.T, n *snb.Network) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := n.WriteNDJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSameSeedSameNetwork(t *testing.T) {
	n := generate(t, 0.005, 7)
	one := ndjson(t, n)
	if !bytes.Equal(one, ndjson(t, generate(t, 0.005, 7))) {
		t.Error("the same scale and seed give different networks")
	}
	if bytes.Equal(one, ndjson(t, generate(t, 0.005, 8))) {
		t.Error("the seed changes nothing")
	}
	if got, want := bytes.Count(one, []byte{'\n'}), n.Entities(); got != want {
		t.Errorf("%d lines, Entities returns %d", got, want)
	}
}

func TestBadScale(t *testing.T) {
	for _, scale := range []float64{0, -1, 11} {
		if _, err := snb.Generate(scale, 1); err == nil {
			t.Errorf("Generate accepts the scale %v", scale)
		}
	}
}

// TestOrderOfEvents checks that nothing refers to an entity that was created later. Otherwise an update
// could fail.
func TestOrderOfEvents(t *testing.T) {
	n := generate(t, 0.01, 3)
	created := map[int64]snb.Millis{} // of persons
	for _, p := range n.Persons {
		created[p.ID] = p.Created
	}
	after := func(what string, later, earlier snb.Millis) {
		if later <= earlier {
			t.Errorf("%s: %v is not after %v", what, later, earlier)
		}
	}
	for _, k := range n.Friendships {
		after("a friendship", k.Created, max(created[k.A], created[k.B]))
	}
	forums := map[int64]snb.Millis{}
	for _, f := range n.Forums {
		after("a forum", f.Created, created[f.Moderator])
		forums[f.ID] = f.Created
	}
	for _, m := range n.Members {
		after("a member", m.Joined, max(forums[m.Forum], created[m.Person]))
	}
	messages := map[int64]snb.Millis{}
	for _, m := range n.Messages {
		after("a message", m.Created, created[m.Creator])
		if m.Post {
			after("a post", m.Created, forums[m.Forum])
		} else {
			after("a comment", m.Created, messages[m.ReplyOf])
		}
		if _, ok := messages[m.ID]; ok {
			t.Errorf("two messages have the id %d", m.ID)
		}
		messages[m.ID] = m.Created
	}
	seen := map[[2]int64]bool{}
	for _, l := range n.Likes {
		after("a like", l.Created, max(messages[l.Message], created[l.Person]))
		if pair := [2]int64{l.Person, l.Message}; seen[pair] {
			t.Errorf("person %d likes message %d twice", l.Person, l.Message)
		} else {
			seen[pair] = true
		}
	}
}

func TestCSV(t *testing.T) {
	n := generate(t, 0.01, 5)
	dir := t.TempDir()
	if err := n.WriteCSV(dir); err != nil {
		t.Fatal(err)
	}
	read, err := snb.ReadCSV(dir)
	if err != nil {
		t.Fatal(err)
	}
	// The files of posts and comments, and of their likes, are apart, so that the order changes.
	for _, network := range []*snb.Network{n, read} {
		slices.SortFunc(network.Messages, func(a, b snb.Message) int { return cmp.Compare(a.ID, b.ID) })
		slices.SortFunc(network.Likes, func(a, b snb.Like) int {
			return cmp.Or(cmp.Compare(a.Person, b.Person), cmp.Compare(a.Message, b.Message))
		})
	}
	for i, v := 0, reflect.ValueOf(*n); i < v.NumField(); i++ {
		if got := reflect.ValueOf(*read).Field(i).Interface(); !reflect.DeepEqual(got, v.Field(i).Interface()) {
			t.Errorf("%s differs after writing and reading", v.Type().Field(i).Name)
		}
	}
}

func TestBadCSV(t *testing.T) {
	for name, c := range map[string]struct{ file, old, new, want string }{
		"header":   {"static/tag", "id|name|url", "id|url|name", "the first line is"},
		"integer":  {"static/tag", "\n0|", "\nzero|", "line 2: field 1 is \"zero\", expected an integer"},
		"instant":  {"dynamic/forum", "T", " ", "expected an instant"},
		"id":       {"dynamic/forum_hasModerator_person", "\n", "\n1", "which no entity has"},
		"fields":   {"static/tag", "\n0|", "\n0|0|", "line 2: 4 fields, expected 3"},
		"category": {"static/place", "|city", "|village", `the type "village"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := generate(t, 0.001, 5).WriteCSV(dir); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, c.file+"_0_0.csv")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.Replace(text, []byte(c.old), []byte(c.new), -1), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := snb.ReadCSV(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, expected %q", err, c.want)
			}
		})
	}
	if _, err := snb.ReadCSV(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no file static/place_0_0.csv") {
		t.Errorf("the error for an empty folder is %v", err)
	}
}
