// Package objecttest is the conformance suite of object.Bucket. Every implementation passes it.
package objecttest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Run tests the storage that `connect` opens. Each call of `connect` returns another connection to the
// same storage. Each test uses names below a prefix of its own.
func Run(t *testing.T, connect func(t *testing.T) object.Bucket) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, a, b object.Bucket, prefix string)
	}{
		{"create", testCreate},
		{"create race", testCreateRace},
		{"own bytes", testOwnBytes},
		{"upload", testUpload},
		{"read", testRead},
		{"list", testList},
		{"put", testPut},
		{"delete", testDelete},
		{"refused calls", testRefused},
		{"cancelled", testCancelled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.run(t, connect(t), connect(t), "suite/"+strings.ReplaceAll(tt.name, " ", "-")+"/")
		})
	}
	t.Run("probe", func(t *testing.T) {
		err := object.Probe(t.Context(), func() (object.Bucket, error) { return connect(t), nil }, "suite/")
		if err != nil {
			t.Error(err)
		}
		if left := list(t, connect(t), "suite/probe/", "", 10); len(left) > 0 {
			t.Errorf("the probe left %v", left)
		}
	})
}

func testCreate(t *testing.T, a, b object.Bucket, prefix string) {
	name := prefix + "x"
	wantIs(t, readError(t, a, name), object.ErrNotFound)
	must(t, a.Create(t.Context(), name, []byte("first")))
	wantContent(t, b, name, "first")
	wantIs(t, b.Create(t.Context(), name, []byte("second")), object.ErrExists)
	wantIs(t, a.Create(t.Context(), name, []byte("first")), object.ErrExists)
	wantContent(t, a, name, "first")

	must(t, a.Create(t.Context(), prefix+"empty", nil))
	wantContent(t, b, prefix+"empty", "")
	wantIs(t, b.Create(t.Context(), prefix+"empty", []byte("full")), object.ErrExists)

	long := prefix + strings.Repeat("n", object.MaxName-len(prefix))
	must(t, a.Create(t.Context(), long, []byte("long")))
	wantContent(t, b, long, "long")
}

func testCreateRace(t *testing.T, a, b object.Bucket, prefix string) {
	for round := range 20 {
		name := fmt.Sprintf("%s%d", prefix, round)
		errs := make([]error, 8)
		start := make(chan struct{})
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() {
				<-start
				errs[i] = []object.Bucket{a, b}[i%2].Create(t.Context(), name, []byte{byte(i)})
			})
		}
		close(start)
		group.Wait()
		winner := slices.Index(errs, nil)
		for i, err := range errs {
			if i != winner && !errors.Is(err, object.ErrExists) {
				t.Errorf("%s: creator %d got %v, and creator %d had won; want ErrExists", name, i, err, winner)
			}
		}
		if winner < 0 {
			t.Fatalf("%s: no creator won: %v", name, errs)
		}
		wantContent(t, a, name, string([]byte{byte(winner)}))
	}
}

// testOwnBytes checks that a Bucket and its callers do not share bytes.
func testOwnBytes(t *testing.T, a, b object.Bucket, prefix string) {
	data := []byte("before")
	must(t, a.Create(t.Context(), prefix+"c", data))
	must(t, a.Put(t.Context(), prefix+"p", data))
	copy(data, "xxxxxx")
	for _, name := range []string{prefix + "c", prefix + "p"} {
		got, err := a.Read(t.Context(), name, 0, object.Whole)
		must(t, err)
		copy(got, "yyyyyy")
		wantContent(t, b, name, "before")
	}
}

func testUpload(t *testing.T, a, b object.Bucket, prefix string) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	must(t, a.Upload(t.Context(), prefix+"large", bytes.NewReader(large), int64(len(large))))
	wantContent(t, b, prefix+"large", string(large))
	must(t, b.Upload(t.Context(), prefix+"large", bytes.NewReader(large), int64(len(large))))
	wantContent(t, a, prefix+"large", string(large))
	must(t, a.Upload(t.Context(), prefix+"empty", strings.NewReader(""), 0))
	wantContent(t, b, prefix+"empty", "")
	for _, size := range []int64{math.MinInt64, -1, 0, 2, 4} {
		err := a.Upload(t.Context(), prefix+"wrong", strings.NewReader("abc"), size)
		if wrong := (*object.SizeError)(nil); !errors.As(err, &wrong) {
			t.Errorf("an upload of 3 bytes announced as %d: %v; want a SizeError", size, err)
		}
		wantIs(t, readError(t, b, prefix+"wrong"), object.ErrNotFound)
	}
}

func testRead(t *testing.T, a, b object.Bucket, prefix string) {
	must(t, a.Create(t.Context(), prefix+"x", []byte("0123456789")))
	for _, tt := range []struct {
		offset, length int64
		want           string
	}{
		{0, object.Whole, "0123456789"},
		{3, object.Whole, "3456789"},
		{0, 4, "0123"},
		{3, 4, "3456"},
		{8, 4, "89"},
		{9, 1, "9"},
		{10, 4, ""},
		{10, object.Whole, ""},
		{11, 1, ""},
		{2, 0, ""},
		{3, math.MaxInt64, "3456789"},
	} {
		got, err := b.Read(t.Context(), prefix+"x", tt.offset, tt.length)
		if err != nil || string(got) != tt.want {
			t.Errorf("%d bytes at %d: %q, %v; want %q", tt.length, tt.offset, got, err, tt.want)
		}
	}
	_, err := a.Read(t.Context(), prefix+"missing", 4, 2)
	wantIs(t, err, object.ErrNotFound)
}

func testList(t *testing.T, a, b object.Bucket, prefix string) {
	names := []string{"a-b", "a.b", "a/b", "a/c/d", "a/d", "a0", "aa", "b/1", "b/10", "b/2"}
	for i, name := range names {
		must(t, a.Create(t.Context(), prefix+name, make([]byte, i)))
	}
	slices.Sort(names)
	for _, tt := range []struct {
		prefix, after string
		limit         int
		want          []string
	}{
		{"", "", object.MaxList, names},
		{"", "", 3, names[:3]},
		{"", names[2], 3, names[3:6]},
		{"", names[len(names)-1], 3, nil},
		{"a/", "", 10, []string{"a/b", "a/c/d", "a/d"}},
		{"a/", "a/b", 10, []string{"a/c/d", "a/d"}},
		{"a/c", "", 10, []string{"a/c/d"}},
		{"a", "a-b", 2, []string{"a.b", "a/b"}},
		{"b/", "b/10", 10, []string{"b/2"}},
		{"b/", "a", 1, []string{"b/1"}},
		{"b/1", "", 10, []string{"b/1", "b/10"}},
		{"c", "", 10, nil},
	} {
		after := ""
		if tt.after != "" {
			after = prefix + tt.after
		}
		var got []string
		for _, e := range list(t, b, prefix+tt.prefix, after, tt.limit) {
			got = append(got, strings.TrimPrefix(e.Name, prefix))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("prefix %q, after %q, limit %d: %v; want %v", tt.prefix, tt.after, tt.limit, got, tt.want)
		}
	}
	if got := list(t, b, prefix+"b/2", "", 1); len(got) != 1 || got[0].Size != 9 {
		t.Errorf("the entry of an object of 9 bytes is %v", got)
	}
}

func testPut(t *testing.T, a, b object.Bucket, prefix string) {
	must(t, a.Put(t.Context(), prefix+"x", []byte("first")))
	wantContent(t, b, prefix+"x", "first")
	must(t, b.Put(t.Context(), prefix+"x", []byte("the second")))
	wantContent(t, a, prefix+"x", "the second")
	wantIs(t, a.Create(t.Context(), prefix+"x", nil), object.ErrExists)
}

func testDelete(t *testing.T, a, b object.Bucket, prefix string) {
	must(t, a.Create(t.Context(), prefix+"x", []byte("first")))
	must(t, b.Delete(t.Context(), prefix+"x"))
	wantIs(t, readError(t, a, prefix+"x"), object.ErrNotFound)
	if got := list(t, a, prefix, "", 10); len(got) > 0 {
		t.Errorf("after the deletion, List returns %v", got)
	}
	must(t, a.Delete(t.Context(), prefix+"x"))
	must(t, a.Create(t.Context(), prefix+"x", []byte("again")))
	wantContent(t, b, prefix+"x", "again")
}

// testRefused checks the calls that a Bucket must refuse.
func testRefused(t *testing.T, a, b object.Bucket, prefix string) {
	for _, name := range []string{"", "A", "a b", "ä", "a+b", "~a", "a\x00", "a%2f", "/a", "a/", "a//b", "a/../b", "./a", strings.Repeat("n", object.MaxName+1)} {
		_, readErr := a.Read(t.Context(), name, 0, object.Whole)
		for call, err := range map[string]error{
			"Create": a.Create(t.Context(), name, nil), "Upload": a.Upload(t.Context(), name, strings.NewReader(""), 0),
			"Read": readErr, "Put": a.Put(t.Context(), name, nil), "Delete": a.Delete(t.Context(), name),
		} {
			if err == nil || errors.Is(err, object.ErrUnknown) || errors.Is(err, object.ErrNotFound) {
				t.Errorf("%s of %q: %v; want an error that says which rule the name breaks", call, name, err)
			}
		}
	}
	must(t, a.Create(t.Context(), prefix+"x", nil))
	for _, r := range [][2]int64{{-1, 1}, {0, -2}} {
		if _, err := b.Read(t.Context(), prefix+"x", r[0], r[1]); err == nil {
			t.Errorf("a read of %d bytes at %d succeeds", r[1], r[0])
		}
	}
	for _, limit := range []int{-1, 0, object.MaxList + 1} {
		if _, err := b.List(t.Context(), prefix, "", limit); err == nil {
			t.Errorf("a list of %d objects succeeds", limit)
		}
	}
	if _, err := b.List(t.Context(), "A", "", 1); err == nil {
		t.Error("a list with the prefix A succeeds")
	}
	if err := b.Create(t.Context(), prefix+"large", make([]byte, object.MaxCreate+1)); err == nil {
		t.Error("an object above the limit is created")
	}
	wantIs(t, readError(t, a, prefix+"large"), object.ErrNotFound)
}

// testCancelled checks calls with a cancelled context.
func testCancelled(t *testing.T, a, b object.Bucket, prefix string) {
	cancelled, cancel := cancelledContext(t)
	defer cancel()
	if err := a.Create(cancelled, prefix+"x", nil); err == nil || errors.Is(err, object.ErrExists) {
		t.Errorf("Create after its context ended: %v; want an error", err)
	} else if !errors.Is(err, object.ErrUnknown) {
		wantIs(t, readError(t, b, prefix+"x"), object.ErrNotFound)
	}
	if _, err := a.Read(cancelled, prefix+"x", 0, 1); err == nil {
		t.Error("Read succeeds after its context ended")
	}
	if _, err := a.List(cancelled, prefix, "", 1); err == nil {
		t.Error("List succeeds after its context ended")
	}
}
