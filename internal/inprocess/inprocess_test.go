package inprocess_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/inprocess"
)

// ask sends a request with the body "question" to a handler.
func ask(ctx context.Context, t *testing.T, h http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://store/path?a=b", strings.NewReader("question"))
	if err != nil {
		t.Fatal(err)
	}
	return (&http.Client{Transport: &inprocess.Transport{Handler: h}}).Do(req)
}

func TestAnswer(t *testing.T) {
	resp, err := ask(inprocess.WithFile(t.Context(), "q.gq"), t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || string(b) != "question" || r.URL.RawQuery != "a=b" || r.ContentLength != 8 || inprocess.From(r.Context()).File != "q.gq" {
			t.Errorf("got %q, %v of %v", b, err, r.URL)
		}
		w.Header().Set("Content-Length", "6")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "ans")
		_, _ = io.WriteString(w, "wer")
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != "answer" || resp.StatusCode != http.StatusTeapot || resp.ContentLength != 6 {
		t.Errorf("the answer is %q, %v, %v", b, err, resp)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoAnswer calls a handler that writes nothing.
func TestNoAnswer(t *testing.T) {
	resp, err := ask(t.Context(), t, func(http.ResponseWriter, *http.Request) {})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || len(b) > 0 || resp.StatusCode != http.StatusOK || resp.ContentLength != -1 {
		t.Errorf("the answer is %q, %v, %v", b, err, resp)
	}
}

// TestFail checks that the client gets the error of the handler itself, before and within the answer.
func TestFail(t *testing.T) {
	fault := errors.New("the disk is full")
	for name, first := range map[string]string{"before the answer": "", "within the answer": "first part"} {
		t.Run(name, func(t *testing.T) {
			resp, err := ask(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
				if first != "" {
					_, _ = io.WriteString(w, first)
				}
				inprocess.From(r.Context()).Fail(fault)
			})
			var got []byte
			if err == nil {
				got, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			var failed *inprocess.Error
			if !errors.As(err, &failed) || failed.Err != fault || string(got) != first {
				t.Errorf("read %q, then %v", got, err)
			}
		})
	}
}

// TestClose closes the body in the middle. The handler must have ended when Close returns.
func TestClose(t *testing.T) {
	ended := false
	resp, err := ask(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := io.WriteString(w, "part"); err != nil {
				ended = true
				inprocess.From(r.Context()).Fail(err)
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || !ended {
		t.Errorf("closed with %v, the handler has ended: %t", err, ended)
	}
}

// TestCancel cancels a request. The transport waits for the handler, which decides when it ends.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := false
	_, err := ask(ctx, t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		ended = true
		inprocess.From(r.Context()).Fail(r.Context().Err())
	})
	if !errors.Is(err, context.Canceled) || !ended {
		t.Errorf("got %v, the handler has ended: %t", err, ended)
	}
	if inprocess.From(ctx) != nil {
		t.Error("the context of the client is that of a request")
	}
}
