package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/engine"
)

// The limits of a row group. The first batch that exceeds one of them is the last batch of its row
// group. The writer holds a row group in memory until the row group ends.
const (
	maxGroupRows  = 128 << 10
	maxGroupBytes = 16 << 20 // measured as record batches
)

// part is a Parquet file that is being written. It counts and hashes the bytes.
type part struct {
	table *table         // the type whose entities it holds
	path  string         // below the folder of the export
	file  io.WriteCloser // receives the bytes
	w     *pqarrow.FileWriter
	hash  hash.Hash // of the bytes so far
	size  int64     // number of bytes so far
	rows  int64     // number of rows so far
	held  uint64    // bytes in the current row group, as record batches
}

// newPart creates the nth file of a type, counted from 0.
func newPart(t *table, n int, mem memory.Allocator, create Create) (*part, error) {
	props, err := properties(t.schema, mem)
	if err != nil {
		return nil, err
	}
	p := &part{table: t, path: fmt.Sprintf("%s/part-%05d.parquet", t.folder, n), hash: sha256.New()}
	if p.file, err = create(p.path); err != nil {
		return nil, err
	}
	// The Parquet writer closes its output if it is an io.Closer. Hiding Close keeps the file open,
	// so that the part closes it exactly once.
	p.w, err = pqarrow.NewFileWriter(t.schema, struct{ io.Writer }{p}, props,
		pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(mem), pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	return p, nil
}

// properties returns the options of the Parquet writer. Lists get no statistics: for lists without
// elements the library writes a minimum that exceeds the maximum, and DuckDB cannot read such a
// file if the elements are instants.
func properties(schema *arrow.Schema, mem memory.Allocator) (*parquet.WriterProperties, error) {
	options := []parquet.WriterProperty{parquet.WithAllocator(mem), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(maxGroupRows)}
	leaves, err := pqarrow.ToParquet(schema, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	for i := range leaves.NumColumns() {
		if c := leaves.Column(i); c.MaxRepetitionLevel() > 0 {
			options = append(options, parquet.WithStatsPath(c.ColumnPath(), false))
		}
	}
	return parquet.NewWriterProperties(options...), nil
}

// Write implements [io.Writer] for the Parquet writer.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.hash.Write(b[:n])
	p.size += int64(n)
	return n, err
}

// add writes a batch of rows.
func (p *part) add(b *engine.Batch, mem memory.Allocator) error {
	batch, err := engine.ArrowBatch(p.table.schema, b, mem)
	if err != nil {
		return err
	}
	defer batch.Release()
	if p.held > maxGroupBytes {
		p.w.NewBufferedRowGroup()
		p.held = 0
	}
	for _, c := range batch.Columns() {
		p.held += c.Data().SizeInBytes()
	}
	p.rows += int64(b.Len)
	return p.w.WriteBuffered(batch)
}

// full reports whether the part takes no more rows. `size` does not include the current row group;
// the part adds a row group's bytes when the next one begins.
func (p *part) full(opts *Options) bool { return p.rows >= opts.PartRows || p.size >= opts.PartBytes }

// close completes the file and closes it. It closes the file after an error too.
func (p *part) close() (ManifestFile, error) {
	err := errors.Join(p.w.Close(), p.file.Close())
	return ManifestFile{Path: p.path, RowCount: p.rows, SizeBytes: p.size, SHA256: hex.EncodeToString(p.hash.Sum(nil))}, err
}
