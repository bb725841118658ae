// Package remote copies files from https servers and object storage to temporary files, because an import reads its files several
// times, and Parquet at any place.
//
// A copy goes on where it was when the connection breaks, a few times. Errors show no user, password or parameter of a URL,
// which may be a signature.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

const (
	maxBytes  = 64 << 30 // size of a file
	maxFiles  = 10_000   // files that fit a pattern
	attempts  = 5        // in a row without a new byte
	quietTime = time.Minute
)

// Fetcher copies files.
type Fetcher struct {
	Dir      string       // the folder of the copies
	Count    func(n int)  // called with numbers of bytes; may be nil
	Client   *http.Client // nil for one with the certificates of the machine
	MaxBytes int64        // size of a file; 0 for the default
	Pause    time.Duration
}

// Fetch copies the file of a URL, or the objects that fit a pattern. It returns the copies with names for messages.
func (f *Fetcher) Fetch(ctx context.Context, text string) ([]record.File, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("a source is no valid URL; write it as https://host/path or s3://bucket/path") // err may repeat a signature
	}
	name := u.Scheme + "://" + u.Host + u.EscapedPath()
	switch {
	case u.Scheme == "https":
		file, err := f.copy(ctx, name, &download{f: f, url: text})
		if err != nil {
			return nil, err
		}
		return []record.File{file}, nil
	case address.IsForeign(text):
		return f.objects(ctx, u.Scheme+"://"+u.Host+"/", text)
	}
	return nil, fmt.Errorf("%s: the scheme is %s; write https://, s3://, gs:// or azblob://", name, u.Scheme)
}

// objects copies the objects of a storage.
func (f *Fetcher) objects(ctx context.Context, place, text string) ([]record.File, error) {
	bucket, pattern, done, err := address.OpenForeign(ctx, text)
	if err != nil {
		return nil, err
	}
	defer done()
	prefix := pattern
	if at := strings.IndexAny(pattern, "*?[\\"); at >= 0 {
		prefix = pattern[:at]
	}
	type found struct {
		name string
		size int64
	}
	var all []found
	for after := ""; ; {
		entries, err := bucket.List(ctx, prefix, after, 1000)
		if err != nil {
			return nil, fmt.Errorf("listing %s%s: %w", place, prefix, err)
		}
		for _, e := range entries {
			after = e.Name
			fits, err := path.Match(pattern, e.Name)
			if err != nil {
				return nil, fmt.Errorf("the pattern %s%s: %w", place, pattern, err)
			}
			if fits || e.Name == pattern {
				all = append(all, found{e.Name, e.Size})
			}
		}
		if len(all) > maxFiles {
			return nil, fmt.Errorf("more than %d objects fit %s%s; write a narrower pattern", maxFiles, place, pattern)
		}
		if len(entries) < 1000 {
			break
		}
	}
	if i := slices.IndexFunc(all, func(o found) bool { return o.name == pattern }); i >= 0 {
		all = all[i : i+1] // the name itself goes before what it fits as a pattern
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no object fits %s%s", place, pattern)
	}
	var files []record.File
	for _, o := range all {
		file, err := f.copy(ctx, place+o.name, &ranges{bucket: bucket, name: o.name, size: o.size})
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// source is a file that can be read from any place on.
type source interface {
	// read writes the bytes from an offset on, as many as it can. The error is nil at the end of the file, and a *permanentError
	// if another attempt is of no use.
	read(ctx context.Context, w io.Writer, offset int64) error
}

// permanentError is a fault that remains.
type permanentError struct{ error }

// Unwrap returns the fault.
func (e *permanentError) Unwrap() error { return e.error }

// copy copies a file to the folder.
func (f *Fetcher) copy(ctx context.Context, name string, s source) (file record.File, err error) {
	tmp, err := os.CreateTemp(f.Dir, "copy-*")
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, tmp.Close()) }()
	w := &bounded{w: tmp, left: maxBytes, count: f.Count}
	if f.MaxBytes > 0 {
		w.left = f.MaxBytes
	}
	pause := backoff.NewExponentialBackOff()
	if f.Pause > 0 {
		pause.InitialInterval = f.Pause
	}
	for failed, had := 0, int64(0); ; {
		err := s.read(ctx, w, w.written)
		if err == nil {
			return record.File{Name: name, Path: tmp.Name()}, nil
		}
		if w.written > had {
			failed, had = 0, w.written
			pause.Reset()
		}
		var permanent *permanentError
		if failed++; failed == attempts || errors.As(err, &permanent) || ctx.Err() != nil {
			return file, fmt.Errorf("copying %s failed after %d bytes: %w", name, w.written, err)
		}
		select {
		case <-time.After(pause.NextBackOff()):
		case <-ctx.Done():
			return file, ctx.Err()
		}
	}
}

// bounded writes up to a number of bytes.
type bounded struct {
	w             io.Writer
	left, written int64
	count         func(n int)
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		return 0, &permanentError{errors.New("the file is too large to import from a URL; copy it here and name the copy")}
	}
	n, err := b.w.Write(p)
	b.left, b.written = b.left-int64(n), b.written+int64(n)
	if b.count != nil {
		b.count(n)
	}
	if err != nil {
		err = &permanentError{err}
	}
	return n, err
}

// ranges is an object of a storage.
type ranges struct {
	bucket address.Foreign
	name   string
	size   int64
}

// rangeBytes is the length of the parts in which an object is read.
const rangeBytes = 8 << 20

// read implements [source].
func (r *ranges) read(ctx context.Context, w io.Writer, offset int64) error {
	for offset < r.size {
		data, err := r.bucket.Read(ctx, r.name, offset, min(rangeBytes, r.size-offset))
		if err != nil {
			return err
		}
		if len(data) == 0 {
			return &permanentError{errors.New("the object became shorter while it was read")}
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		offset += int64(len(data))
	}
	return nil
}
