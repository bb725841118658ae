package audittrail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// copied copies a trail and checks the copy: it is whole, and answers as the trail does.
func copied(t *testing.T, from, to *Store, want uint64) {
	t.Helper()
	n, err := from.Copy(t.Context(), to)
	if err != nil || n != want {
		t.Fatalf("%d records were copied, %v; want %d", n, err, want)
	}
	was, is := sound(t, from), sound(t, to)
	if len(was) != len(is) {
		t.Fatalf("the copy has %d chains, want %d", len(is), len(was))
	}
	for i := range was {
		if was[i].Server != is[i].Server || was[i].Last != is[i].Last || was[i].Head != is[i].Head {
			t.Errorf("the copy of the chain of %s ends at %d with %x, want %d with %x", is[i].Server, is[i].Last, is[i].Head, was[i].Last, was[i].Head)
		}
	}
	for _, f := range []Filter{{Limit: 5000}, {Entity: "c5"}, {Actor: "ada"}, {Actor: "bob"}} {
		if got, want := numbers(t, to, f), numbers(t, from, f); !slices.Equal(got, want) {
			t.Errorf("the copy finds %v for %+v, want %v", got, f, want)
		}
	}
}

// TestCopy copies the chains of two servers, again after parts were merged, and then lets a server go on in the copy.
func TestCopy(t *testing.T) {
	from, b := &object.Memory{}, &object.Memory{}
	one, two := opened(t, from, Options{}), openedAs(t, from, Options{Server: "two"}, true)
	to := NewStore(b, "")
	for i := range 10 {
		read(one, start, "ada", "get", fmt.Sprint("c", i))
		flush(t, one)
	}
	read(two, start, "bob", "get", "c5")
	flush(t, two)
	copied(t, one.Store, to, 13) // each chain begins with the record of its start
	for range 2 * mergeParts {
		read(one, start, "bob", "get", "c5")
		flush(t, one)
	}
	copied(t, one.Store, to, 13+2*mergeParts)

	kill(one)
	kill(two)
	here, err := Open(context.Background(), to, Options{Server: "one", Keep: DefaultKeep, Quota: DefaultQuota, Exclusive: true, Log: one.o.Log})
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close(context.Background())
	read(here, start, "ada", "get", "c5")
	flush(t, here)
	sound(t, to)
	conflict := (*engine.Conflict)(nil)
	if _, err := one.Store.Copy(t.Context(), to); !errors.As(err, &conflict) {
		t.Errorf("a copy over a trail that has gone on: %v, want a conflict", err)
	}
	sound(t, to)
}

// TestCopyBroken copies a trail of which somebody removed a part. The copy is broken at the same place.
func TestCopyBroken(t *testing.T) {
	from := &object.Memory{}
	trail := opened(t, from, Options{})
	for i := range 3 {
		read(trail, start, "ada", "get", fmt.Sprint("c", i))
		flush(t, trail)
	}
	kill(trail)
	if err := from.Delete(t.Context(), trail.object("one", trail.parts[1])); err != nil {
		t.Fatal(err)
	}
	to := NewStore(&object.Memory{}, "")
	if _, err := trail.Store.Copy(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	was, err := trail.Store.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is, err := to.Verify(t.Context())
	if err != nil || was[0].Fault == nil || is[0].Fault == nil || is[0].Fault.Number != was[0].Fault.Number {
		t.Errorf("the fault of the copy is %v, %v; want %v", is[0].Fault, err, was[0].Fault)
	}
}
