package object

import (
	"errors"
	"io"
)

// ExactReader reads the content of an Upload, which must have exactly the announced number of bytes. A
// program that sends the content fails before the storage has all bytes if the content has another size.
type ExactReader struct {
	name string // of the object
	r    io.Reader
	size int64 // as announced
	left int64 // number of bytes that must follow
	err  error // a *SizeError after r has proved to have another size
}

// NewExactReader returns a reader of the `size` bytes of r. It returns a [*SizeError] if `size` is 0 and r
// has bytes.
func NewExactReader(name string, r io.Reader, size int64) (*ExactReader, error) {
	e := &ExactReader{name: name, r: r, size: size, left: size}
	if size == 0 {
		if err := e.end(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Fault returns a [*SizeError] if a Read has found that the content has another size. Callers look here
// because a client library may hide the error of Read.
func (e *ExactReader) Fault() error { return e.err }

// Read implements io.Reader. It makes sure that no more bytes follow before it returns the last ones,
// because afterwards the storage could make the object.
func (e *ExactReader) Read(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && e.left > 0:
		return 0, e.fail()
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	case e.left == 0 && n > 0:
		if err := e.end(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// end returns an error unless r has ended.
func (e *ExactReader) end() error {
	n, err := io.ReadFull(e.r, make([]byte, 1))
	if n > 0 {
		return e.fail()
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// fail records and returns that the content has another size.
func (e *ExactReader) fail() error {
	e.err = &SizeError{Name: e.name, Size: e.size}
	return e.err
}
