// Package gcs keeps the objects of an object.Bucket in a bucket of Google Cloud Storage. It uses the XML
// API of that service. Its tests run against a fake server; nobody has tried it with the real service.
//
// Create is a PUT with the header X-Goog-If-Generation-Match: 0, which the service refuses if an object
// has the name. Each request is sent only once: if a first attempt made the object and its reply was
// lost, the service would refuse the repeated PUT.
package gcs

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const (
	// service is the address of Google Cloud Storage.
	service = "https://storage.googleapis.com"

	// scope is the right that the server asks for: to read and write objects.
	scope = "https://www.googleapis.com/auth/devstorage.read_write"

	// patience is how long a request waits for the answer to begin. Some callers send a request without a
	// deadline, and would otherwise wait for ever on a connection that has died.
	patience = time.Minute
)

// Bucket is an object.Bucket below a prefix of a bucket of Google Cloud Storage.
type Bucket struct {
	object.Names
	address string // URL of the bucket, without a slash at the end
	prefix  string // of the names of all objects; empty, or ends with a slash
	client  *http.Client
}

// Check returns an error if text is not a URL of the form gs://bucket/prefix. The parameter `endpoint`, such
// as http://127.0.0.1:4443, names another server. Check sends no request.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// parse returns the Bucket of a URL, without a client.
func parse(text string) (*Bucket, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "gs" || u.Host == "" {
		return nil, errors.New("the address of the storage is not a URL such as gs://bucket/prefix")
	}
	endpoint := service
	for name, values := range u.Query() {
		if name != "endpoint" {
			return nil, fmt.Errorf("the address of the storage has the unknown parameter %q; use endpoint", name)
		}
		endpoint = strings.TrimSuffix(values[len(values)-1], "/")
		if e, err := url.Parse(endpoint); err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
			return nil, fmt.Errorf("the endpoint %q of the storage is not a URL such as https://storage.example.com", endpoint)
		}
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		if err := object.CheckName(prefix); err != nil {
			return nil, fmt.Errorf("the prefix in the address of the storage: %w", err)
		}
		prefix += "/"
	}
	return &Bucket{address: endpoint + "/" + url.PathEscape(u.Host), prefix: prefix}, nil
}

// Open returns the Bucket of a URL; see [Check]. The credentials are the application default credentials: the
// file that GOOGLE_APPLICATION_CREDENTIALS names, those of gcloud, or the service account of the machine.
func Open(ctx context.Context, text string) (*Bucket, error) {
	b, err := parse(text)
	if err != nil {
		return nil, err
	}
	// Some kinds of credentials keep this context for all later requests of tokens.
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Timeout: patience})
	found, err := google.FindDefaultCredentials(ctx, scope)
	if err != nil {
		return nil, fmt.Errorf("finding the credentials of Google Cloud: %w; set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = patience
	b.client = &http.Client{Transport: &authorized{found.TokenSource.Token, transport}}
	return b, nil
}

// Close ends the idle connections.
func (b *Bucket) Close() { b.client.CloseIdleConnections() }

// Create implements object.Bucket.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	if err := object.Check(ctx, name, data); err != nil {
		return err
	}
	return b.put(ctx, "creating", name, bytes.NewReader(data), int64(len(data)), http.Header{"X-Goog-If-Generation-Match": {"0"}})
}

// Put implements object.Bucket.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	if err := object.Check(ctx, name, data); err != nil {
		return err
	}
	return b.put(ctx, "storing", name, bytes.NewReader(data), int64(len(data)), nil)
}

// Upload implements object.Bucket.
func (b *Bucket) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := object.CheckUpload(ctx, name, size); err != nil {
		return err
	}
	exact, err := object.NewExactReader(name, r, size)
	if err != nil {
		return err
	}
	err = b.put(ctx, "uploading", name, exact, size, nil)
	if wrong := exact.Fault(); wrong != nil {
		return wrong
	}
	return err
}

// put sends an object.
func (b *Bucket) put(ctx context.Context, action, name string, body io.Reader, size int64, header http.Header) error {
	if size == 0 {
		body = http.NoBody
	}
	answer, err := b.send(ctx, http.MethodPut, name, header, body, size)
	if err != nil {
		return explain(action, name, err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection can be used again
	return nil
}

// Read implements object.Bucket.
func (b *Bucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := b.CheckRead(ctx, name); err != nil {
		return nil, err
	}
	if err := object.CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	method, header := http.MethodGet, http.Header{}
	switch {
	case length == 0: // a Range header cannot request an empty range
		method = http.MethodHead
	case length != object.Whole && length <= math.MaxInt64-offset:
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	answer, err := b.send(ctx, method, name, header, nil, 0)
	if refused := (*statusError)(nil); errors.As(err, &refused) && refused.status == http.StatusRequestedRangeNotSatisfiable {
		return nil, nil // the object ends before the range
	}
	if err != nil {
		return nil, explain("reading", name, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, explain("reading", name, err)
	}
	return data, nil
}

// listing is a page of a list. The service may end a page early, and then IsTruncated is true.
type listing struct {
	IsTruncated           bool
	NextContinuationToken string
	Contents              []struct {
		Key  string
		Size int64
	}
}

// List implements object.Bucket.
func (b *Bucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if err := b.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	query := url.Values{"list-type": {"2"}, "prefix": {b.prefix + prefix}}
	if after != "" {
		query.Set("start-after", b.prefix+after)
	}
	var entries []object.Entry
	for {
		query.Set("max-keys", strconv.Itoa(limit-len(entries)))
		page, err := b.page(ctx, query)
		if err != nil {
			return nil, explain("listing", prefix, err)
		}
		for _, c := range page.Contents {
			entries = append(entries, object.Entry{Name: strings.TrimPrefix(c.Key, b.prefix), Size: c.Size})
		}
		if len(entries) >= limit || !page.IsTruncated {
			return entries, nil
		}
		if page.NextContinuationToken == "" {
			return nil, fmt.Errorf("listing %s: the storage returned a part of the list without a token for the next part", prefix)
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

// page requests one page of a list.
func (b *Bucket) page(ctx context.Context, query url.Values) (page listing, err error) {
	answer, err := b.request(ctx, http.MethodGet, b.address+"?"+query.Encode(), nil, nil, 0)
	if err != nil {
		return page, err
	}
	defer answer.Body.Close()
	return page, xml.NewDecoder(answer.Body).Decode(&page)
}

// Delete implements object.Bucket.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := object.Check(ctx, name, nil); err != nil {
		return err
	}
	answer, err := b.send(ctx, http.MethodDelete, name, nil, nil, 0)
	if err = explain("deleting", name, err); errors.Is(err, object.ErrNotFound) {
		return nil
	}
	if err == nil {
		answer.Body.Close()
	}
	return err
}

// send sends a request about an object.
func (b *Bucket) send(ctx context.Context, method, name string, header http.Header, body io.Reader, size int64) (*http.Response, error) {
	return b.request(ctx, method, b.address+"/"+b.prefix+name, header, body, size)
}

// request sends a request. If the answer has an error status, the error is a *statusError. Otherwise the
// caller must close the body of the answer.
func (b *Bucket) request(ctx context.Context, method, address string, header http.Header, body io.Reader, size int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.ContentLength = size
	answer, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	refused := &statusError{status: answer.StatusCode}
	_ = xml.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(refused) // an answer without a body has no code
	return nil, refused
}

// statusError is an answer with an error status.
type statusError struct {
	status  int    // HTTP status
	Code    string // such as NoSuchKey; may be empty
	Message string // for people; may be empty
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the storage answered with the status %d %s %s", e.status, e.Code, e.Message))
}

// explain turns an error of a request into an error of object.Bucket.
func explain(action, name string, err error) error {
	if err == nil {
		return nil
	}
	if meaning := meaning(err); meaning != nil {
		return fmt.Errorf("%s %s: %w: %w", action, name, meaning, err)
	}
	return fmt.Errorf("%s %s: %w", action, name, err)
}

// meaning translates an error of a request into an error of package object. It returns nil if the service did
// not carry out the request and a repetition would not help.
func meaning(err error) error {
	var refused *statusError
	var untrusted *tokenError
	var dial *net.OpError
	switch {
	case errors.As(err, &refused):
		switch s := refused.status; {
		case s == http.StatusNotFound && refused.Code != "NoSuchBucket":
			return object.ErrNotFound
		case s == http.StatusPreconditionFailed:
			return object.ErrExists
		case s == http.StatusTooManyRequests:
			return object.ErrBusy
		case s >= 400 && s < 500 && s != http.StatusRequestTimeout:
			return nil
		}
		return object.ErrUnknown // a fault of the service that may have come after the write
	case errors.As(err, &untrusted):
		return object.ErrBusy // nothing was sent to the storage
	case errors.As(err, &dial) && dial.Op == "dial":
		return object.ErrBusy // nothing was sent
	}
	return object.ErrUnknown
}
