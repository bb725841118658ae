package objecttest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// cancelledContext returns a context that has ended.
func cancelledContext(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantIs checks that an error matches the error `want`.
func wantIs(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v; want one that matches %q", err, want)
	}
}

// Means reports whether an error has a meaning, which is an error of package object. Nil stands for an error without any of
// these meanings.
func Means(err, meaning error) bool {
	if meaning != nil {
		return errors.Is(err, meaning)
	}
	return err != nil && !slices.ContainsFunc(
		[]error{object.ErrExists, object.ErrBusy, object.ErrUnknown, object.ErrNotFound},
		func(m error) bool { return errors.Is(err, m) })
}

// wantContent checks the whole content of an object.
func wantContent(t *testing.T, b object.Bucket, name, want string) {
	t.Helper()
	switch got, err := b.Read(t.Context(), name, 0, object.Whole); {
	case err != nil:
		t.Error(err)
	case string(got) != want:
		t.Errorf("the object %s has %d bytes %.50q; want %d bytes %.50q", name, len(got), got, len(want), want)
	}
}

// readError reads an object and returns the error.
func readError(t *testing.T, b object.Bucket, name string) error {
	t.Helper()
	_, err := b.Read(t.Context(), name, 0, object.Whole)
	return err
}

// list calls Bucket.List and returns the entries. An error ends the test.
func list(t *testing.T, b object.Bucket, prefix, after string, limit int) []object.Entry {
	t.Helper()
	entries, err := b.List(t.Context(), prefix, after, limit)
	must(t, err)
	return entries
}
