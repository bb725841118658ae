package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
)

// slow is a file with slow reads. It counts the reads that are running.
type slow struct {
	*strings.Reader
	running atomic.Int32
	begun   chan struct{} // gets a value when a read begins, unless it has one
}

func (s *slow) Read(p []byte) (int, error) {
	s.running.Add(1)
	defer s.running.Add(-1)
	select {
	case s.begun <- struct{}{}:
	default:
	}
	time.Sleep(20 * time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 100)])
}

// TestLoadReturnsItsReader has a handler in this process refuse a load while something still reads the data. After
// Load has returned, no read may run, because the reader belongs to the caller again.
func TestLoadReturnsItsReader(t *testing.T) {
	for range 5 {
		data := &slow{Reader: strings.NewReader(strings.Repeat("line\n", 1000)), begun: make(chan struct{}, 1)}
		ended := make(chan struct{})
		g := here(t, func(w http.ResponseWriter, r *http.Request) {
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, r.Body) // fails when the request is over
			}()
			<-data.begun
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"error":"no"}`)
		})
		if _, err := g.Load(t.Context(), data, client.LoadQuery{}); err == nil {
			t.Fatal("the load succeeded")
		}
		if data.running.Load() != 0 {
			t.Fatal("Load returned while a read was running")
		}
		<-ended
		if data.Len() == 0 {
			t.Fatal("all data were read after Load had returned")
		}
	}
}
