package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

const (
	logHeaderSize   = 4096 // in bytes
	frameHeaderSize = 32   // in bytes
	frameAlign      = 8    // a frame begins at a multiple of this offset, in bytes
)

var (
	logMagic   = []byte("OGLOG\x00\x00\x00") // start of a log file
	frameMagic = []byte{'O', 'G', 'L', 1}    // start of a frame
	le         = binary.LittleEndian         // the byte order of all files
	noBytes    [frameAlign]byte              // padding
)

// logHeader is the header of a log file.
type logHeader struct {
	number uint64 // number of the log file
	first  uint64 // LSN of the first record
	salt   uint64 // makes frames of an earlier use of the file invalid
	size   int64  // size of the file in bytes
}

// encode returns the bytes of the header, as a log file begins with them.
func (h logHeader) encode() []byte {
	page := make([]byte, logHeaderSize)
	copy(page, logMagic)
	le.PutUint32(page[8:], format.Current)
	le.PutUint64(page[16:], h.number)
	le.PutUint64(page[24:], h.first)
	le.PutUint64(page[32:], h.salt)
	le.PutUint64(page[40:], uint64(h.size))
	le.PutUint32(page[logHeaderSize-4:], checksum(page[:logHeaderSize-4]))
	return page
}

// decodeLogHeader decodes the header of the log file with the given number, which is `size` bytes
// long. The error is an *engine.Corrupt that contains the name of the file.
func decodeLogHeader(page []byte, size int64, file string, number uint64) (logHeader, error) {
	corrupt := func(text string, args ...any) (logHeader, error) {
		return logHeader{}, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(text, args...)}
	}
	if len(page) < logHeaderSize {
		return corrupt("the file has %d bytes, fewer than a header of %d", len(page), logHeaderSize)
	}
	page = page[:logHeaderSize]
	if !bytes.HasPrefix(page, logMagic) {
		return corrupt("offset 0: a log file cannot start with %q", page[:len(logMagic)])
	}
	if want, got := le.Uint32(page[logHeaderSize-4:]), checksum(page[:logHeaderSize-4]); got != want {
		return corrupt("offset 0: the header has checksum %08x, expected %08x", got, want)
	}
	if err := format.Log.Check(file, "offset 8", le.Uint32(page[8:])); err != nil {
		return logHeader{}, err
	}
	h := logHeader{
		number: le.Uint64(page[16:]),
		first:  le.Uint64(page[24:]),
		salt:   le.Uint64(page[32:]),
		size:   int64(le.Uint64(page[40:])),
	}
	switch {
	case h.number != number:
		return corrupt("offset 16: the header is that of log file %d, expected %d", h.number, number)
	case h.first == 0:
		return corrupt("offset 24: the first record has number 0, expected 1 or more")
	case h.size != size:
		return corrupt("offset 40: the header says that the file has %d bytes, but it has %d", h.size, size)
	}
	return h, nil
}

// seed returns the checksum of the salt. The checksums of the frame headers continue it.
func (h logHeader) seed() uint32 { return checksum(le.AppendUint64(nil, h.salt)) }

// frameHeader is the header of a frame.
type frameHeader struct {
	kind       uint8  // kind of the record; see Record
	lsn        uint64 // log sequence number of the record
	length     uint32 // bytes of the payload
	position   uint32 // position of the record in its batch, from 1
	payloadCRC uint32 // checksum of the payload
}

// size returns the size of the frame in the file, in bytes.
func (h frameHeader) size() int64 { return frameSize(int(h.length)) }

// durable returns the LSN up to which the log was durable when the frame was written.
func (h frameHeader) durable() uint64 { return h.lsn - uint64(h.position) }

// frameSize returns the size in bytes of the frame of a payload of the given size.
func frameSize(payload int) int64 { return frameHeaderSize + pad(int64(payload), frameAlign) }

// payloadChecksum returns the checksum of a payload with its padding.
func payloadChecksum(payload []byte) uint32 {
	crc := checksum(payload)
	return updateChecksum(crc, noBytes[:pad(len(payload), frameAlign)-len(payload)])
}

// appendFrame appends the frame of a record: the header, the payload and padding.
func appendFrame(buf []byte, h frameHeader, seed uint32, payload []byte) []byte {
	start := len(buf)
	buf = append(buf, frameMagic...)
	buf = append(buf, h.kind, 0, 0, 0)
	buf = le.AppendUint64(buf, h.lsn)
	buf = le.AppendUint32(buf, h.length)
	buf = le.AppendUint32(buf, h.position)
	buf = le.AppendUint32(buf, h.payloadCRC)
	buf = le.AppendUint32(buf, updateChecksum(seed, buf[start:]))
	buf = append(buf, payload...)
	return append(buf, noBytes[:pad(len(payload), frameAlign)-len(payload)]...)
}

// decodeFrameHeader decodes the frame header at the start of data. It reports false unless
// the header is valid for the file with this seed.
func decodeFrameHeader(data []byte, seed uint32) (frameHeader, bool) {
	if len(data) < frameHeaderSize || !bytes.HasPrefix(data, frameMagic) ||
		le.Uint32(data[28:]) != updateChecksum(seed, data[:28]) {
		return frameHeader{}, false
	}
	h := frameHeader{
		kind:       data[4],
		lsn:        le.Uint64(data[8:]),
		length:     le.Uint32(data[16:]),
		position:   le.Uint32(data[20:]),
		payloadCRC: le.Uint32(data[24:]),
	}
	return h, h.position > 0 && uint64(h.position) <= h.lsn
}

// decodeFrame decodes the frame at the start of data. It reports false unless the whole
// frame is there and its checksums are right.
func decodeFrame(data []byte, seed uint32) (h frameHeader, payload []byte, ok bool) {
	h, ok = decodeFrameHeader(data, seed)
	if !ok || h.size() > int64(len(data)) {
		return h, nil, false
	}
	body := data[frameHeaderSize:h.size()]
	return h, body[:h.length:h.length], checksum(body) == h.payloadCRC
}

// logScan is the content of a log file.
type logScan struct {
	records   []Record // the payloads point into the file's bytes
	next      uint64   // LSN that follows the last record
	end       int64    // offset after the last record
	lastWrite int64    // offset of the first record of the last write
	tornEnd   int64    // where the remains of a torn write end; at most `end` if there are none
}

// scanLog reads the frames of a log file; data includes the file's header. Zeros at the end of the
// file may be left out of data; see readUsed. scanLog returns an *engine.Corrupt if a frame that was
// durable is faulty.
func scanLog(data []byte, h logHeader, file string) (logScan, error) {
	s := logScan{next: h.first, end: logHeaderSize, lastWrite: logHeaderSize}
	seed := h.seed()
	for s.end < int64(len(data)) {
		frame, payload, ok := decodeFrame(data[s.end:], seed)
		if last := s.end + frame.size(); !ok && frame.position > 0 && last > int64(len(data)) && last <= h.size {
			whole := append(data[s.end:len(data):len(data)], make([]byte, last-int64(len(data)))...)
			frame, payload, ok = decodeFrame(whole, seed) // the payload ends with zeros
		}
		if !ok || frame.lsn != s.next {
			break
		}
		if frame.position == 1 {
			s.lastWrite = s.end
		}
		s.records = append(s.records, Record{LSN: frame.lsn, Kind: frame.kind, Payload: payload})
		s.next++
		s.end += frame.size()
	}
	s.tornEnd = s.end
	for off := s.end; ; off++ {
		i := bytes.Index(data[min(off, int64(len(data))):], frameMagic)
		if i < 0 {
			break
		}
		off += int64(i)
		frame, ok := decodeFrameHeader(data[off:], seed)
		if !ok || frame.lsn < s.next {
			continue
		}
		if frame.durable() >= s.next {
			return s, &engine.Corrupt{Object: file, Detail: fmt.Sprintf(
				"offset %d: the frame of record %d is missing or not valid, but the record was durable before record %d at offset %d",
				s.end, s.next, frame.lsn, off)}
		}
		s.tornEnd = off + frameHeaderSize
	}
	return s, nil
}
