package gcs_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/gcs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/objecttest"
)

// fake is a server with the part of the XML API that a Bucket uses, for one bucket. It returns lists in short
// pages, the first of which is empty.
type fake struct {
	mu      sync.Mutex
	objects map[string][]byte
}

// fakePage is the number of entries of a page of a list.
const fakePage = 3

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer the-token" {
		refuse(w, http.StatusUnauthorized, "AuthenticationRequired")
		return
	}
	name, inBucket := strings.CutPrefix(r.URL.Path, "/graphs")
	if !inBucket {
		refuse(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	name = strings.TrimPrefix(name, "/")
	body, err := io.ReadAll(r.Body)
	if err != nil || r.ContentLength >= 0 && int64(len(body)) != r.ContentLength {
		return // the client broke off
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	content, found := f.objects[name]
	switch {
	case name == "" && r.Method == http.MethodGet:
		f.list(w, r.URL.Query())
	case r.Method == http.MethodPut:
		if r.Header.Get("X-Goog-If-Generation-Match") == "0" && found {
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		f.objects[name] = body
	case !found:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodDelete:
		delete(f.objects, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(content)))
	}
}

// list answers a request for a list. REQUIRES: f.mu is locked.
func (f *fake) list(w http.ResponseWriter, query url.Values) {
	type contents struct {
		Key  string
		Size int
	}
	answer := struct {
		XMLName               xml.Name `xml:"http://doc.s3.amazonaws.com/2006-03-01 ListBucketResult"`
		Contents              []contents
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
	}{}
	most, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil || query.Get("list-type") != "2" {
		refuse(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	after, continues := strings.CutPrefix(query.Get("continuation-token"), "after:")
	if most = min(most, fakePage); !continues {
		after, most = query.Get("start-after"), 0
	}
	for _, name := range slices.Sorted(maps.Keys(f.objects)) {
		if !strings.HasPrefix(name, query.Get("prefix")) || name <= after {
			continue
		}
		if answer.IsTruncated = len(answer.Contents) == most; answer.IsTruncated {
			answer.NextContinuationToken = "after:" + after
			break
		}
		answer.Contents = append(answer.Contents, contents{name, len(f.objects[name])})
		after = name
	}
	_ = xml.NewEncoder(w).Encode(answer)
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>%s</Code><Message>m</Message></Error>", code)
}

// account sets the environment so that the credentials are those of a service account. It starts the server
// that exchanges the signature of the account for a token, and returns the number of exchanges.
func account(t *testing.T) *atomic.Int64 {
	t.Helper()
	var exchanges atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchanges.Add(1)
		if err := r.ParseForm(); err != nil || r.Form.Get("assertion") == "" {
			t.Errorf("a token is asked for without a signature: %v, %v", r.Form, err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"the-token","token_type":"Bearer","expires_in":3600}`)
	}))
	t.Cleanup(server.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "graphs@example.com", "private_key_id": "1", "token_uri": server.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	})
	must(t, err)
	path := filepath.Join(t.TempDir(), "account.json")
	must(t, os.WriteFile(path, file, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	return &exchanges
}

// open opens a Bucket at a server.
func open(t *testing.T, endpoint string) *gcs.Bucket {
	t.Helper()
	b, err := gcs.Open(t.Context(), "gs://graphs/prod/one?endpoint="+url.QueryEscape(endpoint))
	must(t, err)
	t.Cleanup(b.Close)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBucket(t *testing.T) {
	exchanges := account(t)
	server := httptest.NewServer(&fake{objects: map[string][]byte{"prod/oneself": nil}})
	defer server.Close()
	objecttest.Run(t, func(t *testing.T) object.Bucket { return open(t, server.URL) })
	if n := exchanges.Load(); n == 0 {
		t.Error("no token was asked for")
	}
}

// TestAnswers checks which error Create returns for each answer of a server, and that each call sends one
// request.
func TestAnswers(t *testing.T) {
	account(t)
	var requests, status atomic.Int64
	var code atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("X-Goog-If-Generation-Match") != "0" {
			t.Errorf("a creation without a condition; the headers are %v", r.Header)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if status.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		refuse(w, int(status.Load()), code.Load().(string))
	}))
	defer server.Close()
	b := open(t, server.URL)
	for _, tt := range []struct {
		status int // 0 breaks the connection
		code   string
		want   error // see objecttest.Means
	}{
		{412, "PreconditionFailed", object.ErrExists},
		{429, "TooManyRequests", object.ErrBusy},
		{503, "ServiceUnavailable", object.ErrUnknown},
		{500, "InternalError", object.ErrUnknown},
		{408, "RequestTimeout", object.ErrUnknown},
		{0, "", object.ErrUnknown},
		{403, "AccessDenied", nil},
		{404, "NoSuchBucket", nil},
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

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"", "is not a URL"}, {"s3://x", "is not a URL"}, {"gs:///x", "is not a URL"}, {"gs://b?endpoint=x:1", "is not a URL such as https"},
		{"gs://b?zone=a", `unknown parameter "zone"`}, {"gs://b/A", "is not allowed"}, {"gs://b/a/../b", "between slashes"},
	} {
		if err := gcs.Check(tt.address); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v; want an error that says %q", tt.address, err, tt.want)
		}
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "lost.json"))
	if _, err := gcs.Open(t.Context(), "gs://graphs"); err == nil || !strings.Contains(err.Error(), "GOOGLE_APPLICATION_CREDENTIALS") {
		t.Errorf("without credentials: %v", err)
	}
}
