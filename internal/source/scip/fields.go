package scip

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	bindings "github.com/scip-code/scip/bindings/go/scip"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// maxMessage is the greatest length of one document or of the metadata, in bytes.
const maxMessage = 256 << 20

// The numbers of the fields that this package reads itself. An index is a sequence of fields: its
// metadata, then its documents. A document is a sequence of fields too.
const (
	indexMetadata  = 1
	indexDocuments = 2

	documentPath        = 1
	documentOccurrences = 2
	documentSymbols     = 3
	documentLanguage    = 4
	documentText        = 5
)

// fields reads the fields of an index from a file, one at a time.
type fields struct {
	r      *bufio.Reader
	name   string // name of the file, for errors
	offset int64  // where r is in the file
	size   int64  // of the file
	buf    []byte // content of the last field
}

func newFields(name string, file io.ReaderAt, size int64) *fields {
	return &fields{r: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16), name: name, size: size}
}

// errorf returns an error about the byte at an offset.
func (f *fields) errorf(offset int64, format string, args ...any) error {
	return fmt.Errorf("%s: at byte %d: %w", f.name, offset, fmt.Errorf(format, args...))
}

// ReadByte implements [io.ByteReader].
func (f *fields) ReadByte() (byte, error) {
	b, err := f.r.ReadByte()
	if err == nil {
		f.offset++
	}
	return b, err
}

// next returns the number and the content of the next field with metadata or a document, and where the
// content starts in the file. It skips other fields. The content is valid until the next call. At the end
// of the file the error is io.EOF.
func (f *fields) next() (number protowire.Number, content []byte, start int64, err error) {
	for {
		at := f.offset
		tag, err := binary.ReadUvarint(f)
		if err == io.EOF && f.offset == at {
			return 0, nil, 0, io.EOF
		}
		if err != nil {
			return 0, nil, 0, f.errorf(at, "the file ends in a field, or is not a SCIP index: %w", err)
		}
		number, kind := protowire.DecodeTag(tag)
		if number < protowire.MinValidNumber {
			return 0, nil, 0, f.errorf(at, "this is no field of a SCIP index; is the file one?")
		}
		wanted := number == indexMetadata || number == indexDocuments
		if wanted && kind != protowire.BytesType {
			return 0, nil, 0, f.errorf(at, "field %d has wire type %d instead of a length; is the file a SCIP index?", number, kind)
		}
		var length uint64
		switch kind {
		case protowire.VarintType:
			_, err = binary.ReadUvarint(f)
		case protowire.Fixed32Type:
			length = 4
		case protowire.Fixed64Type:
			length = 8
		case protowire.BytesType:
			length, err = binary.ReadUvarint(f)
		default:
			return 0, nil, 0, f.errorf(at, "field %d has wire type %d, which SCIP does not use; is the file a SCIP index?", number, kind)
		}
		if err != nil {
			return 0, nil, 0, f.errorf(at, "the file ends in a field, or is not a SCIP index: %w", err)
		}
		if rest := f.size - f.offset; length > uint64(rest) {
			return 0, nil, 0, f.errorf(at, "field %d claims %d bytes, but the file has only %d more; write the index again", number, length, rest)
		}
		if !wanted {
			skipped, err := io.CopyN(io.Discard, f.r, int64(length))
			if err != nil {
				return 0, nil, 0, f.errorf(at, "read a field: %w", err)
			}
			f.offset += skipped
			continue
		}
		if length > maxMessage {
			return 0, nil, 0, f.errorf(at, "field %d has %d bytes, and a document may have %d at most; leave the largest source file out of the index", number, length, maxMessage)
		}
		start := f.offset
		if uint64(cap(f.buf)) < length {
			f.buf = make([]byte, length)
		}
		f.buf = f.buf[:length]
		n, err := io.ReadFull(f.r, f.buf)
		f.offset += int64(n)
		if err != nil {
			return 0, nil, 0, f.errorf(start, "read a field: %w", err)
		}
		return number, f.buf, start, nil
	}
}

// document is one document of an index, as bytes.
type document struct {
	path     string // relative to the project's root, with slashes
	language string
	text     []byte // nil if the index does not have the text of the document

	file  string // name of the index, for errors
	start int64  // where content starts in the file
	bytes []byte
}

// errorf returns an error about the byte at an offset in the document.
func (d *document) errorf(offset int, format string, args ...any) error {
	return fmt.Errorf("%s: document %q, at byte %d: %w", d.file, d.path, d.start+int64(offset), fmt.Errorf(format, args...))
}

// parts calls use for each field of the document whose type has a length. The offset is where the content
// of the field starts in the document.
func (d *document) parts(use func(number protowire.Number, offset int, content []byte) error) error {
	for at := 0; at < len(d.bytes); {
		number, kind, n := protowire.ConsumeTag(d.bytes[at:])
		if n < 0 {
			return d.errorf(at, "this is no field of a document: %w", protowire.ParseError(n))
		}
		value := at + n
		length := protowire.ConsumeFieldValue(number, kind, d.bytes[value:])
		if length < 0 {
			return d.errorf(at, "field %d of the document is not complete: %w", number, protowire.ParseError(length))
		}
		if kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(d.bytes[value:])
			if err := use(number, value+length-len(content), content); err != nil {
				return err
			}
		}
		at = value + length
	}
	return nil
}

// symbols calls use for the information about each symbol in the document.
func (d *document) symbols(use func(offset int, info *bindings.SymbolInformation) error) error {
	var info bindings.SymbolInformation
	return d.parts(func(number protowire.Number, offset int, content []byte) error {
		if number != documentSymbols {
			return nil
		}
		if err := decode(content, &info); err != nil {
			return d.errorf(offset, "the information about a symbol cannot be read: %w", err)
		}
		return use(offset, &info)
	})
}

// occurrences calls use for each occurrence in the document that names a symbol, with its range. It does
// not call it for symbols that are local to the document.
func (d *document) occurrences(use func(offset int, o *bindings.Occurrence, at bindings.Range) error) error {
	var o bindings.Occurrence
	return d.parts(func(number protowire.Number, offset int, content []byte) error {
		if number != documentOccurrences {
			return nil
		}
		if err := decode(content, &o); err != nil {
			return d.errorf(offset, "an occurrence cannot be read: %w", err)
		}
		if o.Symbol == "" || bindings.IsLocalSymbol(o.Symbol) {
			return nil
		}
		at, ok := o.SourceRange()
		if !ok {
			return d.errorf(offset, "the occurrence of %s has no range of three or four numbers", shorten(o.Symbol))
		}
		if err := at.Validate(); err != nil {
			return d.errorf(offset, "the range of an occurrence of %s is not valid: %w", shorten(o.Symbol), err)
		}
		return use(offset, &o, at)
	})
}

// decode reads a message.
func decode(content []byte, m proto.Message) error {
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(content, m)
}

// shorten returns a text for a message, without the end of a long one.
func shorten(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Sprintf("%q", text)
}
