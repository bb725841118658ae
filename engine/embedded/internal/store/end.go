package store

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// endSize is the length of the file END in bytes.
const endSize = 32

// endMagic is the start of a file END.
var endMagic = []byte("OGEND\x00\x00\x00")

// encodeEnd returns the content of END, which says that the log was durable up to the given
// record.
func encodeEnd(durable uint64) []byte {
	b := make([]byte, 0, endSize)
	b = append(b, endMagic...)
	b = le.AppendUint32(b, format.Current)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, durable)
	b = le.AppendUint32(b, 0)
	return le.AppendUint32(b, checksum(b))
}

// decodeEnd returns the LSN of the last durable record, which the file END holds.
func decodeEnd(data []byte, file string) (durable uint64, err error) {
	corrupt := func(text string, args ...any) (uint64, error) {
		return 0, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(text, args...)}
	}
	if len(data) != endSize {
		return corrupt("the file has %d bytes, expected %d", len(data), endSize)
	}
	if !bytes.HasPrefix(data, endMagic) {
		return corrupt("offset 0: the file does not start with %q", endMagic)
	}
	if want, got := le.Uint32(data[endSize-4:]), checksum(data[:endSize-4]); got != want {
		return corrupt("the file has checksum %08x, expected %08x", got, want)
	}
	if err := format.End.Check(file, "offset 8", le.Uint32(data[8:])); err != nil {
		return 0, err
	}
	return le.Uint64(data[16:]), nil
}

// readEnd returns the LSN of the last record according to END.
func readEnd(fsys fs.FS, dir string, m manifest) (durable uint64, err error) {
	name := filepath.Join(dir, endName)
	data, err := fs.ReadFile(fsys, name)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return 0, &engine.Corrupt{Object: name, Detail: fmt.Sprintf("the file is missing, but manifest %d needs it", m.number)}
	case err != nil:
		return 0, unavailable("reading "+endName, err)
	}
	return decodeEnd(data, name)
}

// noteEnd writes the LSN of the given record to END, unless END contains this LSN or a later one
// already. The record must be durable. It stays durable, so END is true at all times, also after a
// crash.
func (s *Store) noteEnd(durable uint64) error {
	s.mu.Lock()
	current := s.hasEnd && s.end >= durable
	s.mu.Unlock()
	if current {
		return nil
	}
	if err := s.writeFile(filepath.Join(s.dir, endName), encodeEnd(durable)); err != nil {
		return unavailable("writing "+endName, err)
	}
	s.mu.Lock()
	s.end, s.hasEnd = durable, true
	s.mu.Unlock()
	return nil
}
