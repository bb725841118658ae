package object

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// The size of a Probe.
const (
	probeNames    = 64 // number of names
	probeCreators = 8  // callers that create each name at the same moment
	probeAtOnce   = 8  // names that are probed at the same time
	probeAttempts = 5  // most calls of one operation while the storage is busy or does not answer

	// probePause is the time between two calls of one operation.
	probePause = 200 * time.Millisecond
)

// Probe tests whether Create lets exactly one of several concurrent callers win. Some servers check
// whether the name is free and then store the object in a second step. They pass every sequential
// test, but let several concurrent callers win. On such storage two servers could both write one
// graph.
//
// Probe calls `connect` eight times; each call must return another connection. For each of 64 new
// names below `prefix`, one Create on each connection starts at the same moment. Exactly one must
// succeed, the others must get ErrExists, and every connection must then read the winner's bytes.
// Then Probe repeats these calls of Create: all of them must get ErrExists, and the objects must
// not change. Probe deletes its objects at the end. It returns nil if the storage passed; an error
// of type [*UnsafeError] says what the storage did wrong, and any other error says why the test
// could not be finished.
func Probe(ctx context.Context, connect func() (Bucket, error), prefix string) error {
	connections := make([]Bucket, probeCreators)
	for i := range connections {
		b, err := connect()
		if err != nil {
			return fmt.Errorf("connecting to the storage for its probe: %w", err)
		}
		connections[i] = b
	}
	run := strings.ToLower(rand.Text())
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(probeAtOnce)
	for i := range probeNames {
		group.Go(func() error {
			return probeName(ctx, connections, fmt.Sprintf("%sprobe/%s/%02d", prefix, run, i))
		})
	}
	return group.Wait()
}

// UnsafeError reports that a storage broke a promise of [Bucket], so that graphs cannot be kept in
// it.
type UnsafeError struct {
	Name  string // the object with which the storage broke the promise
	Fault string // what the storage did
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("the storage failed the probe with object %s: %s; two servers could write one graph there, so use storage with atomic conditional creation", e.Name, e.Fault)
}

// probeName probes one name, and deletes the object at the end.
func probeName(ctx context.Context, connections []Bucket, name string) (err error) {
	defer func() {
		// Delete the object even if ctx ended because the probe of another name failed.
		ctx := context.WithoutCancel(ctx)
		deleted := repeat(ctx, func() error { return connections[0].Delete(ctx, name) })
		if err == nil && deleted != nil {
			err = fmt.Errorf("deleting the object %s of a probe: %w", name, deleted)
		}
	}()
	winner, err := race(ctx, connections, name, "first")
	if err != nil {
		return err
	}
	if len(winner) != 1 {
		return &UnsafeError{Name: name, Fault: fmt.Sprintf("%d of %d concurrent callers created it", len(winner), len(connections))}
	}
	if err := expectContent(ctx, connections, name, content("first", winner[0])); err != nil {
		return err
	}
	again, err := race(ctx, connections, name, "again")
	if err != nil {
		return err
	}
	if len(again) > 0 {
		return &UnsafeError{Name: name, Fault: fmt.Sprintf("%d callers created it although it existed", len(again))}
	}
	return expectContent(ctx, connections, name, content("first", winner[0]))
}

// content returns the bytes that one creator stores in one round.
func content(round string, creator int) string {
	return fmt.Sprintf("%s round, creator %d", round, creator)
}

// race lets every connection create `name` at the same moment and returns the numbers of the
// connections that succeeded. A creator that got no answer repeats its call. If the name is then
// taken, the creator reads the object to see whether it made the object itself.
func race(ctx context.Context, connections []Bucket, name, round string) (winners []int, err error) {
	start := make(chan struct{})
	won := make([]bool, len(connections))
	group, ctx := errgroup.WithContext(ctx)
	for i, b := range connections {
		group.Go(func() error {
			own := content(round, i)
			unanswered := false
			<-start
			err := repeat(ctx, func() error {
				err := b.Create(ctx, name, []byte(own))
				unanswered = unanswered || errors.Is(err, ErrUnknown)
				return err
			})
			switch {
			case err == nil:
				won[i] = true
			case !errors.Is(err, ErrExists):
				return fmt.Errorf("creating the object %s in a probe: %w", name, err)
			case unanswered:
				data, err := read(ctx, b, name)
				if err != nil {
					return err
				}
				won[i] = data == own
			}
			return nil
		})
	}
	close(start)
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, w := range won {
		if w {
			winners = append(winners, i)
		}
	}
	return winners, nil
}

// expectContent reads the object on every connection. It returns an [*UnsafeError] if the object is
// missing or its content is not `want`.
func expectContent(ctx context.Context, connections []Bucket, name, want string) error {
	for i, b := range connections {
		switch got, err := read(ctx, b, name); {
		case errors.Is(err, ErrNotFound):
			return &UnsafeError{Name: name, Fault: fmt.Sprintf("connection %d does not find it after its creation", i)}
		case err != nil:
			return err
		case got != want:
			return &UnsafeError{Name: name, Fault: fmt.Sprintf("connection %d reads %q instead of the winner's %q", i, got, want)}
		}
	}
	return nil
}

// read returns the content of an object of a probe.
func read(ctx context.Context, b Bucket, name string) (string, error) {
	var data []byte
	err := repeat(ctx, func() (err error) {
		data, err = b.Read(ctx, name, 0, Whole)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading the object %s of a probe: %w", name, err)
	}
	return string(data), nil
}

// repeat calls f until it succeeds, or fails with an error other than ErrBusy and ErrUnknown, or has
// failed probeAttempts times. It pauses between the calls.
func repeat(ctx context.Context, f func() error) error {
	for attempt := 1; ; attempt++ {
		err := f()
		if attempt == probeAttempts || !errors.Is(err, ErrBusy) && !errors.Is(err, ErrUnknown) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(probePause):
		}
	}
}
