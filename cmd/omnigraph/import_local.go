package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/remote"
)

// localFiles are copies of standard input and of the files of URLs, because an import reads its files several times.
type localFiles struct {
	bar  *terminal.Progress
	dir  string // folder of the copies; "" before the first one
	read int
}

// copy replaces standard input and URLs among the files of sources by copies.
func (l *localFiles) copy(ctx context.Context, stdin io.Reader, files [][]record.File) error {
	for i, list := range files {
		var out []record.File
		for _, f := range list {
			switch {
			case f.Open != nil:
				out = append(out, f)
			case f.Path == "-":
				path, err := l.spool(stdin)
				if err != nil {
					return err
				}
				out = append(out, record.File{Name: f.Name, Path: path})
			case dataimport.IsURL(f.Path):
				copies, err := l.fetch(ctx, f.Path)
				if err != nil {
					return err
				}
				out = append(out, copies...)
			default:
				out = append(out, f)
			}
		}
		files[i] = out
	}
	return nil
}

// make makes the folder of the copies.
func (l *localFiles) make() (err error) {
	if l.dir == "" {
		l.dir, err = os.MkdirTemp("", "omnigraph-import-*")
	}
	return err
}

// spool copies standard input, and returns the path of the copy.
func (l *localFiles) spool(stdin io.Reader) (string, error) {
	if err := l.make(); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(l.dir, "stdin-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(tmp, stdin)
	return tmp.Name(), errors.Join(err, tmp.Close())
}

// fetch copies the file of a URL, or the objects that fit its pattern.
func (l *localFiles) fetch(ctx context.Context, address string) ([]record.File, error) {
	if err := l.make(); err != nil {
		return nil, err
	}
	defer l.bar.Done()
	f := &remote.Fetcher{Dir: l.dir, Count: func(n int) {
		l.read += n
		l.bar.Show("copying, kB", l.read/1024, 0)
	}}
	return f.Fetch(ctx, address)
}

// remove removes the copies.
func (l *localFiles) remove() error {
	if l.dir == "" {
		return nil
	}
	return os.RemoveAll(l.dir)
}
