package seal

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
)

var here = pagetoken.Place{
	Graph: "people", Actor: "act-ada", Branch: "main", Commit: "01J0000000000000000000000", Now: time.UnixMicro(1_700_000_000_123_456).UTC(),
	Plan: pagetoken.Digest{1}, Args: pagetoken.Digest{15: 2}, Row: 5000,
}

var inList = pagetoken.Place{Graph: "people", Actor: "act-ada", Commit: "01J0000000000000000000000", List: pagetoken.Changes, After: "node/Person/a/b"}

func sealer(t testing.TB, key []byte) *Sealer {
	t.Helper()
	s, err := NewSealer(Keys{List: [][]byte{key}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealAndOpen(t *testing.T) {
	s := sealer(t, NewKey())
	for _, want := range []pagetoken.Place{here, {Now: time.UnixMicro(-1).UTC(), Snapshot: true, Row: math.MaxInt64}, inList} {
		token := s.Seal(&want)
		got, err := s.Open(token)
		if err != nil || *got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if again := s.Seal(&want); again == token {
			t.Error("two tokens of a place are alike")
		}
	}
}

// TestLength checks which sealers open a token that is longer than most.
func TestLength(t *testing.T) {
	long := inList
	long.After += strings.Repeat("i", maxToken)
	for _, unlimited := range []bool{false, true} {
		s, err := NewSealer(Keys{List: [][]byte{NewKey()}, Unlimited: unlimited})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Open(s.Seal(&long)); (err == nil) != unlimited || unlimited && *got != long {
			t.Errorf("unlimited %t: %v", unlimited, err)
		}
	}
}

// TestDamage checks that Open accepts only tokens that were sealed with its key.
func TestDamage(t *testing.T) {
	s := sealer(t, NewKey())
	token := s.Seal(&here)
	if strings.Contains(token, "people") {
		t.Error("the token tells what it holds")
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range token {
		c := alphabet[(strings.IndexByte(alphabet, token[i])+1)%len(alphabet)]
		if p, err := s.Open(token[:i] + string(c) + token[i+1:]); err == nil {
			t.Errorf("opened with character %d changed: %+v", i, p)
		}
		if p, err := s.Open(token[:i]); err == nil {
			t.Errorf("opened when cut to %d characters: %+v", i, p)
		}
	}
	for _, bad := range []string{"", "x", token + "A", token + "=", token + "\n", token[:9] + "\r\n" + token[9:], " " + token, "\x00", strings.Repeat("A", maxToken+1)} {
		if _, err := s.Open(bad); err == nil {
			t.Errorf("opened %q", bad)
		}
	}
	if _, err := sealer(t, NewKey()).Open(token); err == nil {
		t.Error("opened with another key")
	}
	if _, err := NewSealer(Keys{List: [][]byte{make([]byte, 5)}}); err == nil {
		t.Error("a key of five bytes is taken")
	}
	for _, n := range []int{0, MaxKeys + 1} {
		if _, err := NewSealer(Keys{List: slices.Repeat([][]byte{NewKey()}, n)}); err == nil {
			t.Errorf("%d keys are taken", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(pagetoken.Encode(&here))
	f.Add(pagetoken.Encode(&inList))
	f.Add([]byte{pagetoken.Format, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := pagetoken.Decode(b)
		if !ok {
			return
		}
		again, ok := pagetoken.Decode(pagetoken.Encode(p))
		if !ok || *again != *p {
			t.Errorf("%+v becomes %+v", p, again)
		}
	})
}

func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var wg sync.WaitGroup
	keys := make([][]byte, 8)
	for i := range keys {
		wg.Go(func() {
			k, err := FromFolder(dir)
			if err != nil || len(k.List) != 1 {
				t.Error(k.List, err)
				return
			}
			keys[i] = k.List[0]
		})
	}
	wg.Wait()
	for _, k := range keys {
		if len(k) != KeySize || !bytes.Equal(k, keys[0]) {
			t.Fatalf("processes have different keys: %x, %x", k, keys[0])
		}
	}
	info, err := os.Stat(filepath.Join(dir, KeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left, want the key alone", len(files))
	}
	for _, bad := range []string{"", "abc", strings.Repeat("z", 64)} {
		if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := FromFolder(dir); err == nil || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

// TestState checks that a state can be opened with its key alone, and that states and page tokens cannot
// be exchanged.
func TestState(t *testing.T) {
	s := sealer(t, NewKey())
	text := s.SealState([]byte("plain words"))
	if got, ok := s.OpenState(text); !ok || string(got) != "plain words" {
		t.Errorf("found %q, %t", got, ok)
	}
	if _, err := s.Open(text); err == nil {
		t.Error("a state was opened as a page token")
	}
	if _, ok := sealer(t, NewKey()).OpenState(text); ok {
		t.Error("opened with another key")
	}
	for _, bad := range []string{"", "x", text[1:], text + "A", s.Seal(&here), strings.Repeat("A", maxState+1)} {
		if _, ok := s.OpenState(bad); ok {
			t.Errorf("opened %q", bad)
		}
	}
}
