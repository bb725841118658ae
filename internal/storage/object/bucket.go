// Package object defines [Bucket], a small interface to storage that several servers share, and
// implements it in memory and in a folder.
//
// A [Bucket] stores named objects. An object that [Bucket.Create] or [Bucket.Upload] made never
// changes until it is deleted. Servers compete only through Create: of all callers that create an
// object with the same name, exactly one succeeds. [Probe] tests whether a storage keeps this
// promise.
//
// Package objecttest has the conformance suite that every implementation passes.
package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The errors of a [Bucket]. Test for them with errors.Is; implementations add the cause.
var (
	// ErrExists reports that an object of this name exists. It may be the caller's own, from an
	// earlier call that returned ErrUnknown.
	ErrExists = errors.New("the object exists")

	// ErrUnknown reports that the storage did not answer. It may have carried out the call, and it
	// may still carry it out at any later time.
	ErrUnknown = errors.New("the storage did not answer, so the outcome is unknown")

	// ErrBusy reports that the storage refused the call because of its load. It has not carried
	// out the call and will not. Call again after a pause.
	ErrBusy = errors.New("the storage is busy")

	// ErrNotFound reports that no object has this name.
	ErrNotFound = errors.New("the object does not exist")
)

// The limits of every Bucket.
const (
	MaxName   = 200      // bytes of a name
	MaxCreate = 64 << 20 // bytes of an object made by Create or Put
	MaxList   = 1000     // entries of one List
)

// Whole is a length for Read that means: up to the end of the object.
const Whole = -1

// Bucket is a set of named objects in storage that other processes may use at the same time. Its
// methods may be called concurrently.
//
// A name has 1 to [MaxName] bytes: lower-case ASCII letters, digits and the characters "-", "_",
// "." and "/". No part between slashes is empty, "." or "..". Every method returns an error for a
// name that breaks these rules; see [CheckName]. Some storages cannot hold both the objects "a" and
// "a/b". So callers must not use two names if one of them is the other followed by a slash and
// more.
//
// Calls are strongly consistent: after a call has returned nil, every later Read and List in any
// process shows its effect. An object that Read has found is durable.
//
// The expected errors match ErrExists, ErrNotFound, ErrBusy or ErrUnknown. If a method that writes
// returns any other error, the storage has not carried out the call and will not.
type Bucket interface {
	// Create makes an object if its name is free. It makes the whole object or none of it. The
	// object is durable when Create returns nil. The error matches ErrExists if the name is taken
	// and ErrUnknown if the outcome is not known. An implementation never repeats a Create by
	// itself, because the caller could then mistake its own object for another caller's.
	Create(ctx context.Context, name string, data []byte) error

	// Upload stores `size` bytes from r under a name that no other caller uses. It may replace an
	// object that an earlier, failed Upload of the same bytes left. The object is durable and complete
	// when Upload returns nil. If r ends early or has more bytes, Upload fails and makes nothing.
	Upload(ctx context.Context, name string, r io.Reader, size int64) error

	// Read returns up to `length` bytes from `offset` on, or all of them if `length` is [Whole]. It
	// returns fewer than `length` bytes only if the object ends before. The error matches
	// ErrNotFound if no object has the name.
	Read(ctx context.Context, name string, offset, length int64) ([]byte, error)

	// List returns the objects whose names start with `prefix` and are greater than `after`,
	// ordered by the bytes of their names. It returns at most `limit` of them, where 1 <= limit <=
	// [MaxList].
	List(ctx context.Context, prefix, after string, limit int) ([]Entry, error)

	// Put makes or replaces an object. Concurrent calls may take effect in any order, and a call that
	// returned ErrUnknown may replace the object of a later call. So Put is for hints only.
	Put(ctx context.Context, name string, data []byte) error

	// Delete removes an object. It returns nil if no object has the name.
	Delete(ctx context.Context, name string) error
}

// Entry is one object in a List.
type Entry struct {
	Name string // the whole name, including the prefix
	Size int64  // in bytes
}

// CheckName returns an error if the name of an object breaks a rule of [Bucket]. The error says which.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("the object name %q has %d bytes; a name has 1 to %d", name, len(name), MaxName)
	}
	if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part == "" || part == "." || part == ".." }) {
		return fmt.Errorf("the object name %q has a part between slashes that is empty, . or ..; leave it out", name)
	}
	return checkCharacters(name)
}

// checkCharacters returns an error if text has a character that no object name may contain.
func checkCharacters(text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r)
	}); i >= 0 {
		return fmt.Errorf("the object name %q has a character at byte %d that is not allowed; use a to z, 0 to 9 and - _ . /", text, i)
	}
	return nil
}

// Check returns an error if a name or data breaks a rule of [Bucket], or if the context has ended.
// The methods of implementations call it first.
func Check(ctx context.Context, name string, data []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if len(data) > MaxCreate {
		return fmt.Errorf("the object %s has %d bytes; Create and Put store at most %d", name, len(data), MaxCreate)
	}
	return ctx.Err()
}

// CheckUpload returns an error if the name of an Upload breaks a rule of [Bucket], if the announced
// size is negative, or if the context has ended. The error for a negative size is a [*SizeError].
func CheckUpload(ctx context.Context, name string, size int64) error {
	if err := Check(ctx, name, nil); err != nil {
		return err
	}
	if size < 0 {
		return &SizeError{Name: name, Size: size}
	}
	return nil
}

// Names says which names Read and List of a Bucket accept: by default those of [CheckName]. Implementations embed it.
type Names struct{ any bool }

// AcceptAny makes Read and List accept every name, for objects that other programs made. Call it before all other methods.
func (n *Names) AcceptAny() { n.any = true }

// CheckRead returns an error if the name of a Read is not accepted, or if the context has ended.
func (n *Names) CheckRead(ctx context.Context, name string) error {
	if n.any && name != "" {
		return ctx.Err()
	}
	return Check(ctx, name, nil)
}

// CheckList is like the function [CheckList].
func (n *Names) CheckList(prefix, after string, limit int) error {
	if n.any {
		prefix, after = "", ""
	}
	return CheckList(prefix, after, limit)
}

// CheckRange returns an error if the range of a Read is not valid.
func CheckRange(name string, offset, length int64) error {
	if offset < 0 || length < Whole {
		return fmt.Errorf("cannot read %d bytes at %d of the object %s: the offset and the length must not be negative", length, offset, name)
	}
	return nil
}

// CheckList returns an error if the arguments of a List are not valid.
func CheckList(prefix, after string, limit int) error {
	if limit < 1 || limit > MaxList {
		return fmt.Errorf("cannot list %d objects; the limit is 1 to %d", limit, MaxList)
	}
	if err := checkCharacters(prefix); err != nil {
		return err
	}
	return checkCharacters(after)
}

// readAll reads all of r. It returns a [*SizeError] if r does not have exactly `size` bytes.
func readAll(name string, r io.Reader, size int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return nil, fmt.Errorf("reading the content of the object %s: %w", name, err)
	}
	if int64(len(data)) != size {
		return nil, &SizeError{Name: name, Size: size}
	}
	return data, nil
}

// SizeError reports that a reader given to Upload has fewer or more bytes than the caller announced.
type SizeError struct {
	Name string // of the object
	Size int64  // as announced
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the content of the object %s does not have the %d bytes that the caller of Upload announced", e.Name, e.Size)
}
