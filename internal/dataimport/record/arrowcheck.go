package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The library allocates as much as the metadata of an Arrow file say, and follows their offsets. What is checked here
// bounds both by the size of the file. The metadata are flatbuffers of the tables in Message.fbs, Schema.fbs and File.fbs of
// Arrow; the constants are the places of the members there.
const (
	messageHeaderType = 6
	messageHeader     = 8
	messageBodyLength = 10
	messageMetadata   = 12

	schemaFields   = 6
	schemaMetadata = 8

	fieldChildren = 14
	fieldMetadata = 16

	footerSchema       = 6
	footerDictionaries = 8
	footerBatches      = 10
	footerMetadata     = 12

	batchBuffers  = 8
	batchVariadic = 12

	dictionaryBatch = 6
)

// The types of a message.
const (
	isSchema          = 1
	isDictionaryBatch = 2
	isRecordBatch     = 3
)

// maxArrowDepth is the maximum depth of the fields of a schema.
const maxArrowDepth = 100

// blockBytes is the size of a Block in a footer: an i64 offset, the i32 length of the metadata, 4 bytes of padding, and the
// i64 length of the body.
const blockBytes = 24

// arrowMagic begins and ends an Arrow file.
const arrowMagic = "ARROW1"

// continuation begins each message of a stream.
const continuation = 0xffffffff

// checkArrowStream checks the metadata of all messages of a stream. It panics for metadata that are not valid.
func checkArrowStream(in io.ReaderAt, size int64) error {
	for at := int64(0); at < size; {
		var head [8]byte
		n, err := in.ReadAt(head[:], at)
		mark, length := binary.LittleEndian.Uint32(head[:]), int64(int32(binary.LittleEndian.Uint32(head[4:])))
		switch {
		case err != nil && err != io.EOF:
			return err
		case n >= 4 && mark == 0, err == nil && mark == continuation && length == 0:
			return nil // the end of the stream
		case err != nil:
			return fmt.Errorf("the file ends in the message at byte %d", at)
		case mark != continuation: // the library takes it for a length
			return fmt.Errorf("there is no message at byte %d, where one should be", at)
		}
		metadata, err := arrowBytes(in, at+8, length, size)
		if err != nil {
			return err
		}
		body := checkArrowMessage(metadata)
		if at += 8 + length; body < 0 || body > size-at {
			return fmt.Errorf("the message at byte %d has %d bytes, but the file has %d", at, body, size)
		}
		at += body
	}
	return nil
}

// checkArrowFile checks the metadata of a file: its footer, and the messages that the footer lists. It panics for metadata
// that are not valid.
func checkArrowFile(in io.ReaderAt, size int64) error {
	tail, err := arrowBytes(in, size-10, 10, size)
	if err != nil {
		return err
	}
	if string(tail[4:]) != arrowMagic {
		return errors.New("the file is cut: it does not end with " + arrowMagic)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	footer, err := arrowBytes(in, size-10-length, length, size)
	if err != nil {
		return err
	}
	m := &arrowMetadata{left: len(footer)}
	t := arrowRoot(footer)
	m.vector(t, footerMetadata, 4)
	if schema, ok := member(t, footerSchema); ok {
		m.schema(schema)
	}
	for _, slot := range []flatbuffers.VOffsetT{footerDictionaries, footerBatches} {
		start, n := m.vector(t, slot, blockBytes)
		for i := range n {
			block := footer[int(start)+i*blockBytes:]
			metadata, err := arrowBytes(in, int64(binary.LittleEndian.Uint64(block)), int64(int32(binary.LittleEndian.Uint32(block[8:]))), size)
			if err != nil {
				return err
			}
			prefix := 4
			if len(metadata) >= 8 && binary.LittleEndian.Uint32(metadata) == continuation {
				prefix = 8
			}
			checkArrowMessage(metadata[min(prefix, len(metadata)):])
		}
	}
	return nil
}

// arrowBytes reads the bytes of metadata.
func arrowBytes(in io.ReaderAt, at, length, size int64) ([]byte, error) {
	if at < 0 || length < 4 || at > size || length > size-at {
		return nil, fmt.Errorf("the file has %d bytes, but it says that there are %d bytes of metadata at byte %d", size, length, at)
	}
	b := make([]byte, length)
	_, err := in.ReadAt(b, at)
	if err == io.EOF {
		err = nil // after the last byte
	}
	return b, err
}

// checkArrowMessage checks the metadata of a message. It returns the length of the body.
func checkArrowMessage(b []byte) (body int64) {
	m, t := &arrowMetadata{left: len(b)}, arrowRoot(b)
	m.vector(t, messageMetadata, 4)
	if header, ok := member(t, messageHeader); ok {
		switch o := flatbuffers.UOffsetT(t.Offset(messageHeaderType)); {
		case o == 0:
		case t.GetByte(t.Pos+o) == isSchema:
			m.schema(header)
		case t.GetByte(t.Pos+o) == isDictionaryBatch:
			if batch, ok := member(header, dictionaryBatch); ok {
				m.batch(batch)
			}
		case t.GetByte(t.Pos+o) == isRecordBatch:
			m.batch(header)
		}
	}
	if o := flatbuffers.UOffsetT(t.Offset(messageBodyLength)); o != 0 {
		body = t.GetInt64(t.Pos + o)
	}
	return body
}

// arrowRoot returns the table of a flatbuffer.
func arrowRoot(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// member returns a table that is a member of another one.
func member(t flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return flatbuffers.Table{}, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + o)}, true
}

// arrowMetadata checks a flatbuffer. Its methods panic for metadata that are not valid.
type arrowMetadata struct {
	left int // the number of elements of vectors that may follow: all of them together are not more than the bytes
}

// vector checks the number of elements of a vector, each of which has a size in bytes.
func (m *arrowMetadata) vector(t flatbuffers.Table, slot flatbuffers.VOffsetT, size int) (start flatbuffers.UOffsetT, n int) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return 0, 0
	}
	start, n = t.Vector(o), t.VectorLen(o)
	if n < 0 || n > m.left || int64(start)+int64(n)*int64(size) > int64(len(t.Bytes)) {
		panic(fmt.Sprintf("a list of %d elements in %d bytes of metadata", n, len(t.Bytes)))
	}
	m.left -= n
	return start, n
}

// schema checks a schema.
func (m *arrowMetadata) schema(t flatbuffers.Table) {
	m.vector(t, schemaMetadata, 4)
	m.fields(t, schemaFields, 1)
}

// fields checks a vector of fields, and their children.
func (m *arrowMetadata) fields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int) {
	if depth > maxArrowDepth {
		panic(fmt.Sprintf("fields in more than %d levels", maxArrowDepth))
	}
	start, n := m.vector(t, slot, 4)
	for i := range n {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(start + flatbuffers.UOffsetT(4*i))}
		m.vector(field, fieldMetadata, 4)
		m.fields(field, fieldChildren, depth+1)
	}
}

// batch checks a batch. The counts of the buffers of its views are together not more than its buffers.
func (m *arrowMetadata) batch(t flatbuffers.Table) {
	_, buffers := m.vector(t, batchBuffers, 16)
	start, n := m.vector(t, batchVariadic, 8)
	for i := range n {
		count := flatbuffers.GetInt64(t.Bytes[int(start)+8*i:])
		if count < 0 || count > int64(buffers) {
			panic(fmt.Sprintf("a view with %d buffers in a batch of %d", count, buffers))
		}
		buffers -= int(count)
	}
}
