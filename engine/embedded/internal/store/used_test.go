package store

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestRecordsOfZeros writes records that end with zeros, and opens the store again after each. The
// zeros at the end of a log file belong to its last record.
func TestRecordsOfZeros(t *testing.T) {
	mem := fs.NewMem()
	s, err := Create(t.Context(), mem, "zeros", Options{LogSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var want [][]byte
	for i, zeros := range []int{0, 1, 31, 32, 33, 4096, readPiece - 1, readPiece, 3*readPiece + 5} {
		payload := append([]byte(fmt.Sprint("record ", i)), make([]byte, zeros)...)
		if i%3 == 2 {
			payload = make([]byte, zeros)
		}
		want = append(want, payload)
		ticket, err := s.Enqueue(9, payload)
		if err == nil {
			err = s.Wait(ticket)
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		var found *Recovered
		if s, found, err = Open(t.Context(), mem, "zeros", Options{LogSize: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		if len(found.Records) != len(want) {
			t.Fatalf("after record %d the log has %d records", i, len(found.Records))
		}
		for k, r := range found.Records {
			if !bytes.Equal(r.Payload, want[k]) {
				t.Errorf("record %d has %d bytes, want %d", k, len(r.Payload), len(want[k]))
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
