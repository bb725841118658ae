//go:build azure

package azure_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/azure"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/azure/azuretest"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/objecttest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// key sets the environment so that the credentials are the key of an account.
func key(t *testing.T) { t.Setenv("AZURE_STORAGE_KEY", "c2VjcmV0") }

// open opens a Bucket at a server.
func open(t *testing.T, server string) *azure.Bucket {
	t.Helper()
	b, err := azure.Open("azblob://graphs/prod/one?account=team&endpoint=" + url.QueryEscape(server))
	must(t, err)
	t.Cleanup(b.Close)
	return b
}

func TestBucket(t *testing.T) {
	service := azuretest.Start(t)
	objecttest.Run(t, func(t *testing.T) object.Bucket { return azuretest.Open(t, service) })
	t.Run("blocks", func(t *testing.T) {
		b := azuretest.Open(t, service)
		data := bytes.Repeat([]byte("0123456789"), 4<<20) // a block has 16 MiB
		must(t, b.Upload(t.Context(), "large", bytes.NewReader(data), int64(len(data))))
		got, err := b.Read(t.Context(), "large", 16<<20-5, 10)
		if want := data[16<<20-5:][:10]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("10 bytes on the border of two blocks: %q, %v; want %q", got, err, want)
		}
		// Blocks of an upload that fails must not become an object.
		err = b.Upload(t.Context(), "short", bytes.NewReader(data), int64(len(data))+1)
		if wrong := (*object.SizeError)(nil); !errors.As(err, &wrong) {
			t.Errorf("an upload that ends early: %v; want a SizeError", err)
		}
		if _, err := b.Read(t.Context(), "short", 0, 1); !errors.Is(err, object.ErrNotFound) {
			t.Errorf("after an upload that ended early: %v; want ErrNotFound", err)
		}
	})
	t.Run("operator", func(t *testing.T) {
		lost, err := azure.Open(strings.Replace(azuretest.URL(service, "p"), "//graphs/", "//missing/", 1))
		must(t, err)
		if err := lost.Create(t.Context(), "x", nil); err == nil || !strings.Contains(err.Error(), "create the container") || strings.Contains(err.Error(), "\n") {
			t.Errorf("in a container that does not exist: %v", err)
		}
		key(t)
		stranger, err := azure.Open(azuretest.URL(service, "p"))
		must(t, err)
		if err := stranger.Create(t.Context(), "x", nil); err == nil || !strings.Contains(err.Error(), "check") {
			t.Errorf("with a wrong key: %v", err)
		}
	})
}

// TestAnswers checks which error Create returns for each answer of a server, and that each call sends one
// request.
func TestAnswers(t *testing.T) {
	key(t)
	var requests, status atomic.Int64
	var code atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("If-None-Match") != "*" {
			t.Errorf("a creation without If-None-Match: *; the headers are %v", r.Header)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if status.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		if c := code.Load().(string); c != "" {
			w.Header().Set("x-ms-error-code", c)
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	b := open(t, server.URL)
	for _, tt := range []struct {
		status int // 0 breaks the connection
		code   string
		want   error // see objecttest.Means
	}{
		{409, "BlobAlreadyExists", object.ErrExists},
		{412, "ConditionNotMet", object.ErrExists},
		{412, "", object.ErrExists},
		{412, "LeaseIdMissing", nil},
		{409, "ContainerBeingDeleted", nil},
		{429, "TooManyRequests", object.ErrBusy},
		{503, "ServerBusy", object.ErrUnknown},
		{500, "OperationTimedOut", object.ErrUnknown},
		{500, "InternalError", object.ErrUnknown},
		{408, "RequestTimeout", object.ErrUnknown},
		{504, "", object.ErrUnknown},
		{0, "", object.ErrUnknown},
		{403, "AuthorizationPermissionMismatch", nil},
		{404, "ContainerNotFound", nil},
	} {
		requests.Store(0)
		status.Store(int64(tt.status))
		code.Store(tt.code)
		err := b.Create(t.Context(), "x", []byte("data"))
		if n := requests.Load(); !objecttest.Means(err, tt.want) || n != 1 {
			t.Errorf("status %d, code %s: %v after %d requests; want %v after 1", tt.status, tt.code, err, n, tt.want)
		}
	}
	server.Close()
	if err := open(t, server.URL).Create(t.Context(), "x", nil); !errors.Is(err, object.ErrBusy) {
		t.Errorf("without a server: %v; want ErrBusy, because nothing was sent", err)
	}
}

// TestRange checks the range of bytes that Read requests.
func TestRange(t *testing.T) {
	key(t)
	var asked atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("x-ms-range") + r.Header.Get("Range"))
		_, _ = io.WriteString(w, "bytes")
	}))
	defer server.Close()
	b := open(t, server.URL)
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
			t.Errorf("%d bytes at %d: the range is %q, error %v; want %q", tt.length, tt.offset, asked.Load(), err, tt.want)
		}
	}
}

// TestList checks a list in several pages from a server that knows the parameter startfrom, and one that is
// not in the order of bytes, as of an account with a hierarchical namespace.
func TestList(t *testing.T) {
	key(t)
	var names []string
	pages := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages++
		q := r.URL.Query()
		if q.Get("prefix") != "prod/one/l/" {
			t.Errorf("a list with the parameters %v", q)
		}
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>`)
		next := ""
		for i, n := range names {
			if full := "prod/one/" + n; full >= q.Get("startFrom") && n > q.Get("marker") {
				fmt.Fprintf(w, "<Blob><Name>%s</Name><Properties><Content-Length>%d</Content-Length></Properties></Blob>", full, i)
				if i+1 < len(names) {
					next = n
				}
				break // pages of one object
			}
		}
		fmt.Fprintf(w, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", next)
	}))
	defer server.Close()
	b := open(t, server.URL)
	names = []string{"l/1", "l/2", "l/3", "l/4"}
	got, err := b.List(t.Context(), "l/", "l/2", 5)
	if err != nil || fmt.Sprint(got) != "[{l/3 2} {l/4 3}]" || pages != 3 {
		t.Errorf("after l/2: %v, %v in %d pages; want l/3 and l/4 in 3 pages, which begin with l/2", got, err, pages)
	}
	if got, err = b.List(t.Context(), "l/", "l/1", 1); err != nil || fmt.Sprint(got) != "[{l/2 1}]" {
		t.Errorf("one after l/1: %v, %v", got, err)
	}
	unordered := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>`)
		for _, n := range []string{"prod/one/l/a/b", "prod/one/l/a-b"} {
			fmt.Fprintf(w, "<Blob><Name>%s</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>", n)
		}
		fmt.Fprint(w, "</Blobs><NextMarker/></EnumerationResults>")
	}))
	defer unordered.Close()
	if got, err := open(t, unordered.URL).List(t.Context(), "l/", "", 5); err == nil || !strings.Contains(err.Error(), "hierarchical namespace") {
		t.Errorf("a list in another order: %v, %v", got, err)
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"", "is not a URL"}, {"s3://x", "is not a URL"}, {"azblob:///x?account=a", "is not a URL"},
		{"azblob://c", "account=name"}, {"azblob://c?account=A.b", "account=name"},
		{"azblob://c?account=a&endpoint=x:1", "is not a URL such as https"}, {"azblob://c?account=a&sig=secret", `unknown parameter "sig"`},
		{"azblob://c/A?account=a", "is not allowed"}, {"azblob://c/a/../b?account=a", "between slashes"},
	} {
		if err := azure.Check(tt.address); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v; want an error that says %q", tt.address, err, tt.want)
		}
	}
}
