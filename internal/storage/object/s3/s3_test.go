package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/objecttest"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3/s3test"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBucket(t *testing.T) {
	endpoint := s3test.Start(t)
	objecttest.Run(t, func(t *testing.T) object.Bucket { return s3test.Open(t, endpoint) })
	t.Run("parts", func(t *testing.T) {
		b := s3test.Open(t, endpoint)
		data := bytes.Repeat([]byte("0123456789"), 4<<20) // the library sends parts of 16 MiB
		must(t, b.Upload(t.Context(), "large", bytes.NewReader(data), int64(len(data))))
		got, err := b.Read(t.Context(), "large", 16<<20-5, 10)
		if want := data[16<<20-5:][:10]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("10 bytes on the border of two parts: %q, %v; want %q", got, err, want)
		}
	})
}

// TestAnswers checks which error Create returns for each answer of a server, and that each call
// sends one request.
func TestAnswers(t *testing.T) {
	var requests atomic.Int64
	var status atomic.Int64
	var code atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Method == http.MethodPut && r.Header.Get("If-None-Match") != "*" {
			t.Errorf("a creation without If-None-Match: *; it has %q", r.Header.Get("If-None-Match"))
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(int(status.Load()))
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>m</Message></Error>", code.Load())
	}))
	defer server.Close()
	b := s3test.Open(t, server.URL)
	for _, tt := range []struct {
		status int
		code   string
		want   error // nil means an error that matches no error of package object
	}{
		{412, "PreconditionFailed", object.ErrExists},
		{409, "ConditionalRequestConflict", object.ErrBusy},
		{503, "SlowDown", object.ErrBusy},
		{429, "TooManyRequests", object.ErrBusy},
		{503, "ServiceUnavailable", object.ErrUnknown},
		{500, "InternalError", object.ErrUnknown},
		{400, "RequestTimeout", object.ErrUnknown},
		{504, "", object.ErrUnknown},
		{403, "AccessDenied", nil},
		{404, "NoSuchBucket", nil},
	} {
		requests.Store(0)
		status.Store(int64(tt.status))
		code.Store(tt.code)
		err := b.Create(t.Context(), "x", []byte("data"))
		if !objecttest.Means(err, tt.want) {
			t.Errorf("status %d, code %s: %v; want %v", tt.status, tt.code, err, tt.want)
		}
		if n := requests.Load(); n != 1 {
			t.Errorf("status %d, code %s: %d requests; want 1", tt.status, tt.code, n)
		}
	}
	server.Close()
	b = s3test.Open(t, server.URL) // a new client, which has no open connections
	if err := b.Create(t.Context(), "x", nil); !errors.Is(err, object.ErrBusy) {
		t.Errorf("without a server: %v; want ErrBusy, because nothing was sent", err)
	}
}

// TestLostReply breaks the connection after the request of a Create has arrived. The outcome must
// be unknown, and the request must not be repeated.
func TestLostReply(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	err := s3test.Open(t, server.URL).Create(t.Context(), "x", []byte("data"))
	if !errors.Is(err, object.ErrUnknown) || requests.Load() != 1 {
		t.Errorf("%v after %d requests; want ErrUnknown after 1", err, requests.Load())
	}
}

// TestRange checks the range of bytes that Read requests.
func TestRange(t *testing.T) {
	var asked atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("Range"))
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		_, _ = io.WriteString(w, "bytes")
	}))
	defer server.Close()
	b := s3test.Open(t, server.URL)
	for _, tt := range []struct {
		offset, length int64
		want           string
	}{
		{0, object.Whole, ""},
		{3, object.Whole, "bytes=3-"},
		{0, 5, "bytes=0-4"},
		{3, 4, "bytes=3-6"},
		{3, math.MaxInt64 - 3, fmt.Sprintf("bytes=3-%d", math.MaxInt64-1)},
		{3, math.MaxInt64, "bytes=3-"}, // the last byte would have a number above math.MaxInt64
	} {
		if _, err := b.Read(t.Context(), "x", tt.offset, tt.length); err != nil || asked.Load() != tt.want {
			t.Errorf("%d bytes at %d: the header Range is %q, error %v; want %q", tt.length, tt.offset, asked.Load(), err, tt.want)
		}
	}
}

// TestNegativeSize checks that Upload refuses a negative size without a request.
func TestNegativeSize(t *testing.T) {
	err := s3test.Open(t, "http://127.0.0.1:1").Upload(t.Context(), "x", strings.NewReader("abc"), -1)
	if wrong := (*object.SizeError)(nil); !errors.As(err, &wrong) {
		t.Errorf("an upload of -1 bytes: %v; want a SizeError", err)
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"", "is not a URL"}, {"http://x", "is not a URL"}, {"s3:///x", "is not a URL"},
		{"s3://b?endpoint=x:1", "is not a URL such as https"}, {"s3://b?zone=a", `unknown parameter "zone"`},
		{"s3://b/A", "is not allowed"}, {"s3://b/a/../b", "between slashes"},
	} {
		if _, err := s3.Open(tt.address); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v; want an error that says %q", tt.address, err, tt.want)
		}
	}
}
