package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"iter"
	"mime"
	"time"
)

// mediaEvents is the media type of server-sent events.
const mediaEvents = "text/event-stream"

const (
	// followPause is the shortest time between two connections of Follow. A server or a proxy may end
	// every stream soon, but each stream begins with a page.
	followPause = time.Second

	// followSilence is how long a server may send nothing. A server sends something every 15 seconds.
	followSilence = time.Minute
)

// Follow returns the changes of a branch, and goes on when the branch gets new commits. When the server
// or the connection ends the stream, Follow connects again and continues after the last page, so no
// page is lost or repeated. It ends when ctx ends, or with the error of a request that fails after
// the retries of the client. To continue in another process, store the Cursor of each page after its
// changes are applied. Pages without a cursor end within a commit: apply them together with the
// pages up to the next cursor, or apply each change so that applying it again has no effect.
func (g *Graph) Follow(ctx context.Context, from FeedQuery) iter.Seq2[*ChangeFeed, error] {
	return func(yield func(*ChangeFeed, error) bool) {
		at := from
		follow(ctx, g, FeedChanges, func() *request { return reading(g.path+"/changes", at.values()) }, at.next)(yield)
	}
}

// follow returns the pages of a feed. The function `next` returns the request for a stream that continues
// after the pages that were passed to `passed`. Each page is the data of an event with the given name.
func follow[T any](ctx context.Context, g *Graph, event string, next func() *request, passed func(page *T)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for {
			q := next()
			q.header.Set("Accept", mediaEvents)
			pause := time.NewTimer(followPause)
			err := followOnce(ctx, g, event, q, func(page *T) bool {
				passed(page)
				return yield(page, nil)
			})
			if err == errStopped {
				pause.Stop()
				return
			}
			if err == nil {
				select {
				case <-ctx.Done():
				case <-pause.C:
				}
			}
			pause.Stop()
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errStopped says that the receiver of the pages wants no more.
var errStopped = errors.New("the receiver wants no more pages")

// followOnce reads one stream to its end and passes its pages to `each`. The error is that of a request
// that the server refused, or errStopped. The end of the stream is not an error, even if the connection
// broke: the next request either continues or gets the error.
func followOnce[T any](ctx context.Context, g *Graph, event string, q *request, each func(*T) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := g.c.open(ctx, q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || media != mediaEvents {
		return errors.New("the server's answer is not a stream of events; check that the URL is that of an omnigraph-server")
	}
	silent := time.AfterFunc(followSilence, cancel)
	defer silent.Stop()
	r := bufio.NewReader(resp.Body)
	for {
		name, data, err := readEvent(r, func() { silent.Reset(followSilence) })
		if err != nil || name != event {
			return nil // the stream has ended, or ends with this event
		}
		page, err := decode[T](data)
		if err != nil {
			return err
		}
		if !each(page) {
			return errStopped
		}
	}
}

// readEvent reads the next event that has data. It calls `alive` for each line. The server writes the data
// of an event in one line.
func readEvent(r *bufio.Reader, alive func()) (name string, data []byte, err error) {
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return "", nil, err
		}
		alive()
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && data != nil:
			return name, data, nil
		case len(line) == 0:
			name = ""
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			data = value
		}
	}
}
