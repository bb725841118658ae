package sharedlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// The limits of the pauses between repetitions of a request. Each pause is a random duration
// between half of the current limit and the limit. The limit doubles after each pause, from
// firstPause to lastPause.
const (
	firstPause = 50 * time.Millisecond // the limit of the first pause
	lastPause  = 5 * time.Second       // the greatest limit
)

// storage sends the requests of one Follower.
type storage struct{ Options }

// errPatience reports that the patience or the context ended before the storage answered.
var errPatience = errors.New("the storage did not answer in time")

// repeat calls `request` until it succeeds or returns an error other than ErrBusy and ErrUnknown,
// or until the patience or the context ends. In the latter case repeat returns the last error,
// joined with errPatience.
func (s *storage) repeat(ctx context.Context, request func() error) error {
	start := s.Now()
	for limit := firstPause; ; limit = min(2*limit, lastPause) {
		err := request()
		if !errors.Is(err, object.ErrBusy) && !errors.Is(err, object.ErrUnknown) {
			return err
		}
		if ctx.Err() != nil || s.Now().Sub(start) >= s.Patience {
			return fmt.Errorf("%w: %w", errPatience, err)
		}
		pause, random := s.random(8)
		if random != nil {
			return random
		}
		s.Sleep(ctx, limit/2+time.Duration(binary.LittleEndian.Uint64(pause)%uint64(limit/2)))
	}
}

// Repeat calls `request`, a request to the storage of the log, as often as a Follower repeats its
// own. `request` must be safe to repeat. If the storage does not answer in time, the error matches
// ErrUnavailable.
func (o Options) Repeat(ctx context.Context, request func() error) error {
	s := storage{o.withDefaults()}
	return unavailable(s.repeat(ctx, request))
}

// random returns n random bytes.
func (s *storage) random(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.Random, b); err != nil {
		return nil, fmt.Errorf("drawing random bytes: %w", err)
	}
	return b, nil
}

// read returns a whole object. The error matches object.ErrNotFound or ErrUnavailable.
func (s *storage) read(ctx context.Context, name string) (data []byte, err error) {
	err = s.repeat(ctx, func() error {
		data, err = s.Bucket.Read(ctx, s.Prefix+name, 0, object.Whole)
		return err
	})
	return data, unavailable(err)
}

// readEntry returns the log object `number`. The error matches object.ErrNotFound or
// ErrUnavailable, or is a *CorruptError or a *NewerError.
func (s *storage) readEntry(ctx context.Context, number uint64) (*entry, error) {
	data, err := s.read(ctx, logName(number))
	if err != nil {
		return nil, err
	}
	return decodeEntry(number, data)
}

// list returns the names that start with `prefix` and are greater than `after`, at most `limit` of
// them. The arguments and the result do not contain the prefix of the graph.
func (s *storage) list(ctx context.Context, prefix, after string, limit int) (names []string, err error) {
	if after != "" {
		after = s.Prefix + after
	}
	var entries []object.Entry
	err = s.repeat(ctx, func() error {
		entries, err = s.Bucket.List(ctx, s.Prefix+prefix, after, limit)
		return err
	})
	for _, e := range entries {
		names = append(names, e.Name[len(s.Prefix):])
	}
	return names, unavailable(err)
}

// upload stores an object under a name that is used once.
func (s *storage) upload(ctx context.Context, name string, data []byte) error {
	return unavailable(s.repeat(ctx, func() error {
		return s.Bucket.Upload(ctx, s.Prefix+name, bytes.NewReader(data), int64(len(data)))
	}))
}

// delete removes an object.
func (s *storage) delete(ctx context.Context, name string) error {
	return unavailable(s.repeat(ctx, func() error { return s.Bucket.Delete(ctx, s.Prefix+name) }))
}

// newestCheckpoint returns the name of the newest checkpoint and the last log number that it covers;
// "" and 0 if there is none. It counts checkpoints that no log object announces, too.
func (s *storage) newestCheckpoint(ctx context.Context) (name string, covered uint64, err error) {
	names, err := s.list(ctx, checkpointPrefix, "", 1)
	if err != nil || len(names) == 0 {
		return "", 0, err
	}
	covered, _, err = parseCheckpointName(names[0])
	return names[0], covered, err
}

// create creates a log object and returns the object that then exists under its number: e itself,
// or another server's. It sends the same bytes until an object exists. If that takes too long, the
// error matches ErrIndeterminate, or ErrUnavailable if the storage has certainly not created the
// object. create continues after the caller's context has ended, because the object may already
// exist.
func (s *storage) create(ctx context.Context, e *entry) (*entry, error) {
	ctx = context.WithoutCancel(ctx)
	data := e.encode()
	name := logName(e.number)
	found, uncertain := e, false
	err := s.repeat(ctx, func() error {
		err := s.Bucket.Create(ctx, s.Prefix+name, data)
		if errors.Is(err, object.ErrUnknown) {
			uncertain = true
			if s.Faults.AcknowledgeEarly {
				return nil
			}
		}
		if !errors.Is(err, object.ErrExists) {
			return err
		}
		// The object may be this server's own, from a request whose reply was lost.
		uncertain = true
		stored, err := s.Bucket.Read(ctx, s.Prefix+name, 0, object.Whole)
		if errors.Is(err, object.ErrNotFound) {
			return object.ErrUnknown // collected in between; only another Create shows whose it was
		} else if err != nil {
			return err
		}
		found, err = decodeEntry(e.number, stored)
		return err
	})
	switch {
	case err == nil:
		if found.id == e.id {
			return e, nil
		}
		return found, nil
	case uncertain:
		return nil, fmt.Errorf("%w: %w", ErrIndeterminate, err)
	}
	return nil, unavailable(err)
}

// unavailable adds ErrUnavailable to an error, unless the error has a more exact meaning.
func unavailable(err error) error {
	var corrupt *CorruptError
	var newer *NewerError
	if err == nil || errors.Is(err, object.ErrNotFound) || errors.As(err, &corrupt) || errors.As(err, &newer) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
