package client_test

import (
	"fmt"
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
}

func (s *slow) Read(p []byte) (int, error) {
	s.running.Add(1)
	defer s.running.Add(-1)
	time.Sleep(20 * time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 100)])
}

// TestLoadReturnsItsReader runs a server that refuses a load while the client reads the data. After
// Load has returned, no read may run, because the reader belongs to the caller again.
func TestLoadReturnsItsReader(t *testing.T) {
	g := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		answer := http.NewResponseController(w)
		_ = answer.EnableFullDuplex() // do not read the body before the answer is sent
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"error":"no"}`)
		_ = answer.Flush()
	})
	for range 5 {
		data := &slow{Reader: strings.NewReader(strings.Repeat("line\n", 1000))}
		if _, err := g.Load(t.Context(), data, client.LoadQuery{}); err == nil {
			t.Fatal("the load succeeded")
		}
		if data.running.Load() != 0 {
			t.Fatal("Load returned while a read was running")
		}
	}
}
