package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// The formats of files.
const (
	CSV     = "csv"
	TSV     = "tsv"
	JSON    = "json"
	Parquet = "parquet"
	Arrow   = "arrow" // an Arrow IPC file or stream
	GraphML = "graphml"
)

// Formats lists the formats.
var Formats = []string{CSV, TSV, JSON, Parquet, Arrow, GraphML}

// Options say how to read a file. The zero value reads it as its name and its first bytes suggest.
type Options struct {
	Format   string // one of Formats; "" for the format that the name suggests
	Encoding string // one of Encodings, for text formats; "" for UTF-8, or what a byte order mark says

	// For CSV and TSV.
	Delimiter byte     // between fields; 0 for the most frequent one of , ; | and tab in the header
	Headless  bool     // the first line is a record
	Columns   []string // names for the columns; nil for those of the header, or 1, 2, 3 without one
	Skip      int      // lines before the header
	Fill      bool     // a record that is too short ends with nulls, and one that is too long may end with empty fields

	// Records is the path to the records of JSON, with points between names; "" if the file holds the records themselves.
	Records string

	// Count, if set, is called with the number of bytes that were read from the file.
	Count func(n int)

	Plain bool // a compressed file is a fault, as it may be for files of strangers
}

// Encodings lists the encodings of text files.
var Encodings = []string{"utf-8", "utf-16le", "utf-16be", "latin-1", "windows-1252"}

// decoders holds the encodings other than UTF-8.
var decoders = map[string]encoding.Encoding{
	"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16be": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"latin-1": charmap.ISO8859_1, "windows-1252": charmap.Windows1252,
}

// suffixes maps the endings of file names to formats.
var suffixes = map[string]string{".csv": CSV, ".tsv": TSV, ".tab": TSV, ".txt": CSV, ".json": JSON, ".jsonl": JSON, ".ndjson": JSON, ".geojson": JSON,
	".parquet": Parquet, ".pq": Parquet, ".arrow": Arrow, ".arrows": Arrow, ".feather": Arrow, ".ipc": Arrow, ".graphml": GraphML}

// FormatOf returns the format that the name of a file suggests, or "". It ignores .gz and .zst at the end.
func FormatOf(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	return suffixes[filepath.Ext(name)]
}

// File is a file to read, or another source of records.
type File struct {
	Name string // stands in faults
	Path string // where the file is
	// Open opens a source that is no file, in place of Path.
	Open func(opts Options) (Reader, error)
	Size int64 // of a source that is no file: what Count will add up to; 0 if that is unknown
}

// Open opens a file for reading. An error of the file's content is a *Fault.
func Open(f File, opts Options) (Reader, error) {
	if f.Open != nil {
		return f.Open(opts)
	}
	format := opts.Format
	if format == "" {
		if format = FormatOf(f.Name); format == "" {
			return nil, &Fault{File: f.Name, Err: fmt.Errorf("the name does not say the format; write format: under read in the map, one of %s", strings.Join(Formats, ", ")), Final: true}
		}
	}
	if format == Parquet || format == Arrow {
		return openColumnar(f, format, opts)
	}
	in, err := openBytes(f, opts)
	if err != nil {
		return nil, err
	}
	r, err := open(f.Name, format, in, opts)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return r, nil
}

// open returns the reader of a format.
func open(name, format string, in *input, opts Options) (Reader, error) {
	text, err := in.text(opts.Encoding)
	if err != nil {
		return nil, &Fault{File: name, Err: err, Final: true}
	}
	switch format {
	case CSV, TSV:
		if format == TSV && opts.Delimiter == 0 {
			opts.Delimiter = '\t'
		}
		return newCSV(name, text, in, opts)
	case JSON:
		return newJSON(name, text, in, opts.Records), nil
	case GraphML:
		return newGraphML(name, text, in, opts)
	}
	return nil, &Fault{File: name, Err: fmt.Errorf("the format %s is unknown; the formats are %s", format, strings.Join(Formats, ", ")), Final: true}
}

// input is the decompressed content of a file.
type input struct {
	*bufio.Reader
	close      []func() error
	compressed bool // the file was compressed
}

// Close closes the file.
func (in *input) Close() error {
	var all error
	for i := len(in.close) - 1; i >= 0; i-- {
		all = errors.Join(all, in.close[i]())
	}
	return all
}

// counter calls a function with the number of bytes that each call of Read returns.
type counter struct {
	io.Reader
	count func(n int)
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count(n)
	return n, err
}

const bufferBytes = 256 << 10

// openBytes opens a file and decompresses it if it begins as gzip or zstd does.
func openBytes(f File, opts Options) (*input, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	in := &input{close: []func() error{file.Close}}
	var r io.Reader = file
	if opts.Count != nil {
		r = &counter{file, opts.Count}
	}
	in.Reader = bufio.NewReaderSize(r, bufferBytes)
	magic, _ := in.Peek(4)
	isGzip, isZstd := bytes.HasPrefix(magic, []byte("\x1f\x8b")), bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd"))
	switch {
	case opts.Plain && (isGzip || isZstd):
		return nil, errors.Join(&Fault{File: f.Name, Err: errors.New("the file is compressed; decompress it first"), Final: true}, in.Close())
	case isGzip:
		z, err := gzip.NewReader(in.Reader)
		if err != nil {
			return nil, errors.Join(&Fault{File: f.Name, Err: err, Final: true}, in.Close())
		}
		in.Reader, in.compressed = bufio.NewReaderSize(z, bufferBytes), true
	case isZstd:
		z, err := zstd.NewReader(in.Reader, zstd.WithDecoderMaxMemory(512<<20))
		if err != nil {
			return nil, errors.Join(&Fault{File: f.Name, Err: err, Final: true}, in.Close())
		}
		in.close = append(in.close, func() error { z.Close(); return nil })
		in.Reader, in.compressed = bufio.NewReaderSize(z, bufferBytes), true
	}
	return in, nil
}

// text returns the content as UTF-8 without a byte order mark. Content that claims to be UTF-8 is not checked.
func (in *input) text(enc string) (*bufio.Reader, error) {
	head, _ := in.Peek(4)
	found := ""
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		found = "utf-8"
		_, _ = in.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		found = "utf-16le"
		_, _ = in.Discard(2)
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		found = "utf-16be"
		_, _ = in.Discard(2)
	case enc == "" && bytes.IndexByte(head, 0) >= 0:
		return nil, errors.New("the file has NUL bytes, as UTF-16 without a byte order mark has; write encoding: utf-16le or utf-16be under read in the map")
	}
	if found != "" {
		if enc != "" && enc != found {
			return nil, fmt.Errorf("the file begins with the byte order mark of %s, and the map says encoding: %s; leave the encoding out", found, enc)
		}
		enc = found
	}
	d, ok := decoders[enc]
	if !ok {
		return in.Reader, nil
	}
	return bufio.NewReaderSize(d.NewDecoder().Reader(in.Reader), bufferBytes), nil
}
