package launch

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestHealth(t *testing.T) {
	var status atomic.Int32 // 0 means that the server does not answer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		if status.Load() == 0 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	addr := server.Listener.Addr().String()
	none, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	none.Close()
	for _, tt := range []struct {
		name, addr string
		status     int32
		want       string // part of the error; empty for none
	}{
		{"alive", addr, http.StatusOK, ""},
		{"reached by another name", addr, http.StatusForbidden, ""},
		{"something else", addr, http.StatusNotFound, "answers 404"},
		{"broken", addr, http.StatusInternalServerError, "answers 500"},
		{"hanging", addr, 0, "did not answer in time"},
		{"gone", none.Addr().String(), http.StatusOK, "refused"},
		{"no address", "a b", http.StatusOK, "expected host:port"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status.Store(tt.status)
			cmd := newCommand(Program{})
			cmd.SetArgs([]string{"health", "--addr", tt.addr, "--timeout", "200ms"})
			cmd.SetOut(new(bytes.Buffer))
			err := cmd.ExecuteContext(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("found %v, want %q", err, tt.want)
			}
		})
	}
}
