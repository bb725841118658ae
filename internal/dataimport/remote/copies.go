package remote

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Copies are copies of standard input and of the files of URLs.
type Copies struct {
	Count func(n int) // called with numbers of bytes of URLs; may be nil
	dir   string      // folder of the copies; "" before the first one
}

// Copy replaces standard input and URLs among the files of sources by copies.
func (c *Copies) Copy(ctx context.Context, stdin io.Reader, files [][]record.File) error {
	for i, list := range files {
		var out []record.File
		for _, f := range list {
			switch {
			case f.Open != nil:
				out = append(out, f)
			case f.Path == "-":
				path, err := c.spool(stdin)
				if err != nil {
					return err
				}
				out = append(out, record.File{Name: f.Name, Path: path})
			case strings.Contains(f.Path, "://"):
				copies, err := c.Fetch(ctx, f.Path)
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
func (c *Copies) make() (err error) {
	if c.dir == "" {
		c.dir, err = os.MkdirTemp("", "omnigraph-import-*")
	}
	return err
}

// spool copies standard input, and returns the path of the copy.
func (c *Copies) spool(stdin io.Reader) (string, error) {
	if err := c.make(); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(c.dir, "stdin-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(tmp, stdin)
	return tmp.Name(), errors.Join(err, tmp.Close())
}

// Fetch copies the file of a URL, or the objects that fit its pattern.
func (c *Copies) Fetch(ctx context.Context, address string) ([]record.File, error) {
	if err := c.make(); err != nil {
		return nil, err
	}
	return (&Fetcher{Dir: c.dir, Count: c.Count}).Fetch(ctx, address)
}

// Remove removes the copies.
func (c *Copies) Remove() error {
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}
