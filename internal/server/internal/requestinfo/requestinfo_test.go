package requestinfo

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestID(t *testing.T) {
	tests := []struct {
		sent string
		kept bool
	}{
		{"abc-123_X.y:z/1+2=@", true},
		{strings.Repeat("a", 128), true},
		{strings.Repeat("a", 129), false},
		{"", false},
		{"a b", false},
		{"a\nlevel=ERROR", false},
		{"a\"b", false},
		{"ä", false},
		{"\x00", false},
		{"a,b", false},
	}
	for _, tt := range tests {
		got := ID(http.Header{Header: {tt.sent}})
		if kept := got == tt.sent; kept != tt.kept {
			t.Errorf("of %q the id is %q", tt.sent, got)
		}
		if !wellFormed(got) {
			t.Errorf("of %q the id %q is not well formed", tt.sent, got)
		}
	}
}

// TestIDIsNoToken checks that an id that reveals the client's token is replaced.
func TestIDIsNoToken(t *testing.T) {
	const token = "Qw7xK2mN9pL4vR8sT3yU6zB1"
	for _, tt := range []struct {
		sent, authorization string
		kept                bool
	}{
		{token, "Bearer " + token, false}, {token[3:20], "Bearer " + token, false}, {"id-" + token, "bearer  " + token, false},
		{"mine-1", "Bearer " + token, true}, {"Qw7", "Bearer " + token, true}, {"a-longer-id-of-mine", "", true}, {"a-longer-id-of-mine", "Bearer", true},
	} {
		if got := ID(http.Header{Header: {tt.sent}, "Authorization": {tt.authorization}}); (got == tt.sent) != tt.kept {
			t.Errorf("of %q beside %q the id is %q", tt.sent, tt.authorization, got)
		}
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		id := NewID()
		if len(id) != 26 || seen[id] {
			t.Fatalf("%q, seen %v", id, seen[id])
		}
		seen[id] = true
	}
}

func FuzzID(f *testing.F) {
	f.Add("abc")
	f.Add("a\r\nSet-Cookie: b")
	f.Fuzz(func(t *testing.T, sent string) {
		id := ID(http.Header{Header: {sent}})
		if id == "" || len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			t.Errorf("of %q the id is %q", sent, id)
		}
	})
}

// TestContext checks that a context made by With behaves like its parent and also carries
// the record.
func TestContext(t *testing.T) {
	type other struct{}
	parent, cancel := context.WithTimeoutCause(context.WithValue(t.Context(), other{}, "kept"), time.Hour, errors.New("late"))
	r := &Info{ID: "a"}
	ctx := With(parent, r)
	child, stop := context.WithCancel(ctx)
	defer stop()
	if From(ctx) != r || From(child) != r || From(parent) != nil || child.Value(other{}) != "kept" {
		t.Error("the record or a value of the parent is lost")
	}
	at, ok := ctx.Deadline()
	if want, _ := parent.Deadline(); !ok || !at.Equal(want) {
		t.Errorf("the deadline is %v", at)
	}
	cancel()
	<-child.Done()
	if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(child.Err(), context.Canceled) {
		t.Errorf("the parent has ended, and got %v and %v", ctx.Err(), child.Err())
	}
}

func TestAttach(t *testing.T) {
	type name struct{}
	type other struct{}
	plain := context.WithValue(t.Context(), other{}, "outer")
	if Attach(plain, name{}, 1) {
		t.Error("a value was attached to the context of no record")
	}
	ctx := With(plain, &Info{ID: "r1"})
	if ctx.Value(name{}) != nil || !Attach(ctx, name{}, 1) || ctx.Value(name{}) != 1 {
		t.Errorf("the attached value is %v, want 1", ctx.Value(name{}))
	}
	if Attach(ctx, other{}, "inner") || Attach(ctx, name{}, 2) || ctx.Value(name{}) != 1 || ctx.Value(other{}) != "outer" {
		t.Errorf("a second value was attached: %v, %v", ctx.Value(name{}), ctx.Value(other{}))
	}
	if inner := context.WithValue(ctx, name{}, 3); From(inner).ID != "r1" || Attach(inner, other{}, "inner") || inner.Value(name{}) != 3 {
		t.Error("a context below does not hide the attached value, or took one itself")
	}
}
