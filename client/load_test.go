package client_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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

// TestUploadGoesOn sends data in pieces to a server that stores the first one and then answers with an error.
func TestUploadGoesOn(t *testing.T) {
	for _, status := range []int{http.StatusConflict, http.StatusBadGateway, http.StatusGatewayTimeout} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			var stored int64
			refused, loaded := false, false
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/load/ndjson"):
					loaded = true
					fmt.Fprint(w, `{}`)
				case r.Method == http.MethodPost:
					w.Header().Set("Location", "/graphs/g/uploads/u")
					w.WriteHeader(http.StatusCreated)
				case r.Method == http.MethodPatch && r.Header.Get("Upload-Offset") != strconv.FormatInt(stored, 10):
					w.WriteHeader(http.StatusBadRequest)
				case r.Method == http.MethodPatch:
					n, err := io.Copy(io.Discard, r.Body)
					if stored += n; err != nil || !refused {
						refused = true
						w.WriteHeader(status)
						return
					}
					w.WriteHeader(http.StatusNoContent)
				case r.Method == http.MethodGet:
					fmt.Fprintf(w, `{"offset":%d}`, stored)
				default:
					w.WriteHeader(http.StatusNoContent)
				}
			}))
			defer srv.Close()
			c, err := client.New(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			data := strings.Repeat(" ", 8<<20+1)
			if _, err := c.Graph("g").Load(t.Context(), strings.NewReader(data), client.LoadQuery{}); err != nil || !loaded || stored != int64(len(data)) {
				t.Errorf("%v; loaded %t, and %d bytes arrived", err, loaded, stored)
			}
		})
	}
}
