package seal

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTwoKeys checks that a sealer opens what the last two keys sealed, and nothing older.
func TestTwoKeys(t *testing.T) {
	first, second, third := NewKey(), NewKey(), NewKey()
	ofFirst, ofSecond := sealer(t, first).Seal(&here), sealer(t, second).Seal(&here)
	s, err := NewSealer(Keys{List: [][]byte{third, second}})
	if err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{"the present key": s.Seal(&here), "the key before it": ofSecond} {
		if p, err := s.Open(token); err != nil || *p != here {
			t.Errorf("a token of %s: %+v, %v", what, p, err)
		}
	}
	if _, err := s.Open(ofFirst); err == nil {
		t.Error("a token of an older key was opened")
	}
	if _, err := sealer(t, third).Open(s.Seal(&here)); err != nil {
		t.Errorf("the first key does not seal: %v", err)
	}
	if plain, ok := s.OpenState(sealer(t, second).SealState([]byte("state"))); !ok || string(plain) != "state" {
		t.Errorf("the state of the key before it: %q, %t", plain, ok)
	}
}

// TestKeysAgain lets another server seal with a newer key. A sealer must read the keys again when it meets that
// key, and at most once a second for keys that no server has.
func TestKeysAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := NewKey(), NewKey()
		stored, reads, fault := [][]byte{first}, 0, error(nil)
		s, err := NewSealer(Keys{List: stored, Again: func(context.Context) ([][]byte, error) {
			reads++
			return stored, fault
		}})
		if err != nil {
			t.Fatal(err)
		}
		ofFirst, strange := s.Seal(&here), sealer(t, NewKey()).Seal(&here)
		for range 20 {
			if _, err := s.Open(strange); err == nil {
				t.Fatal("a token of a strange key was opened")
			}
		}
		if reads != 1 {
			t.Errorf("20 tokens of a strange key caused %d reads of the keys, want 1", reads)
		}
		time.Sleep(readPause)
		stored = [][]byte{second, first}
		if _, err := s.Open(sealer(t, second).Seal(&here)); err != nil || reads != 2 {
			t.Errorf("a token of a newer key: %v, after %d reads", err, reads)
		}
		if _, err := s.Open(ofFirst); err != nil || reads != 2 {
			t.Errorf("a token of the key before it: %v, after %d reads", err, reads)
		}
		if _, err := sealer(t, second).Open(s.Seal(&here)); err != nil {
			t.Errorf("the sealer does not seal with the newer key: %v", err)
		}
		for _, bad := range []struct {
			keys  [][]byte
			fault error
		}{{nil, errors.New("the storage does not answer")}, {[][]byte{{1}}, nil}, {nil, nil}} {
			time.Sleep(readPause)
			stored, fault = bad.keys, bad.fault
			_, _ = s.Open(strange)
			if _, err := s.Open(ofFirst); err != nil {
				t.Errorf("after a read that found %v, %v: %v", bad.keys, bad.fault, err)
			}
		}
	})
}

// TestParseKeys checks the texts that hold keys. No error may repeat a key.
func TestParseKeys(t *testing.T) {
	one, two := strings.Repeat("a1", KeySize), strings.Repeat("B2", KeySize)
	for _, tt := range []struct {
		text string
		keys int // 0 for an error
	}{
		{one, 1}, {one + "\n", 1}, {one + "," + two, 2}, {one + "\n" + two + "\n", 2}, {one + ", " + two, 2},
		{"", 0}, {" ,\n", 0}, {one + "," + two + "," + one, 0}, {one[1:], 0}, {one + "0", 0}, {"g" + one[1:], 0}, {one + two, 0},
	} {
		keys, err := ParseKeys(tt.text)
		if len(keys) != tt.keys || (err == nil) != (tt.keys > 0) {
			t.Errorf("%q: %d keys, %v", tt.text, len(keys), err)
		}
		if err != nil && (strings.Contains(err.Error(), one[1:]) || strings.Contains(err.Error(), two)) {
			t.Errorf("the error repeats a key: %v", err)
		}
	}
	if k, err := FromEnvironment(func(string) string { return "" }); err != nil || len(k.List) != 0 {
		t.Errorf("without the variable: %v, %v", k.List, err)
	}
	if k, err := FromEnvironment(func(name string) string { return map[string]string{Variable: two + "," + one}[name] }); err != nil || len(k.List) != 2 || hex.EncodeToString(k.List[0]) != strings.ToLower(two) {
		t.Errorf("two keys in the variable: %v, %v", k.List, err)
	}
	if _, err := FromEnvironment(func(string) string { return one[2:] }); err == nil || !strings.Contains(err.Error(), Variable) || !strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("a short key in the variable: %v", err)
	}
}

// TestFolderAgain adds a newer key to the file of a folder while a sealer is in use.
func TestFolderAgain(t *testing.T) {
	dir := t.TempDir()
	keys, err := FromFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSealer(keys)
	if err != nil {
		t.Fatal(err)
	}
	before, next := s.Seal(&here), NewKey()
	if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte(hex.EncodeToString(next)+"\n"+hex.EncodeToString(keys.List[0])+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{"the newer key": sealer(t, next).Seal(&here), "the key before it": before} {
		if _, err := s.Open(token); err != nil {
			t.Errorf("a token of %s: %v", what, err)
		}
	}
}
