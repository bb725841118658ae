package server_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestSharedPageTokenKeys lets two servers find the keys of page tokens in shared storage. The first one makes
// a key. A newer key that is added later must be found when the keys are read again.
func TestSharedPageTokenKeys(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	one, err := server.SharedPageTokenKeys(ctx, b)
	if err != nil || len(one.List) != 1 {
		t.Fatalf("the first server: %d keys, %v", len(one.List), err)
	}
	two, err := server.SharedPageTokenKeys(ctx, b)
	if err != nil || len(two.List) != 1 || !bytes.Equal(two.List[0], one.List[0]) {
		t.Fatalf("the second server has another key: %v", err)
	}
	newer := seal.NewKey()
	if err := b.Put(ctx, seal.KeyFile, []byte(hex.EncodeToString(newer)+"\n"+hex.EncodeToString(one.List[0])+"\n")); err != nil {
		t.Fatal(err)
	}
	if list, err := one.Again(ctx); err != nil || len(list) != 2 || !bytes.Equal(list[0], newer) || !bytes.Equal(list[1], one.List[0]) {
		t.Errorf("reading again: %d keys, %v", len(list), err)
	}
	for _, bad := range []string{"", "abc", strings.Repeat("z", 64)} {
		if err := b.Put(ctx, seal.KeyFile, []byte(bad)); err != nil {
			t.Fatal(err)
		}
		if _, err := server.SharedPageTokenKeys(ctx, b); err == nil || !strings.Contains(err.Error(), "correct or remove it") {
			t.Errorf("the object contains %q: %v", bad, err)
		}
	}
}
