//go:build azure

package azure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const (
	// patience is how long a request waits for the answer to begin. Some callers send a request without a
	// deadline, and would otherwise wait for ever on a connection that has died.
	patience = time.Minute

	// Upload sends larger objects in blocks of blockBytes, and blocksAtOnce of them at a time. The service
	// takes up to 50,000 blocks.
	blockBytes   = 16 << 20
	blocksAtOnce = 2
)

// Bucket is an object.Bucket below a prefix of a container.
type Bucket struct {
	object.Names
	container *container.Client
	prefix    string // of the names of all blobs; empty, or ends with a slash
	transport *http.Transport
}

// location is a container and a prefix, as a URL names them.
type location struct {
	account string // name of the storage account
	address string // URL of the container
	prefix  string // see Bucket
}

// Check returns an error if text is not a URL of the form azblob://container/prefix?account=name. The
// parameter `endpoint`, such as http://127.0.0.1:10000/name, replaces https://name.blob.core.windows.net.
// Check sends no request.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// parse returns the location that a URL names.
func parse(text string) (*location, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "azblob" || u.Host == "" {
		return nil, errors.New("the address of the storage is not a URL such as azblob://container/prefix?account=name")
	}
	l, endpoint := &location{}, ""
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; name {
		case "account":
			l.account = value
		case "endpoint":
			endpoint = strings.TrimSuffix(value, "/")
			if e, err := url.Parse(endpoint); err != nil || e.Host == "" || e.RawQuery != "" || e.Scheme != "http" && e.Scheme != "https" {
				return nil, errors.New("the endpoint in the address of the storage is not a URL such as https://name.blob.core.windows.net") // it may contain a signature
			}
		default:
			return nil, fmt.Errorf("the address of the storage has the unknown parameter %q; use account and endpoint, and put keys and signatures into the environment", name)
		}
	}
	if l.account == "" || strings.Trim(l.account, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, fmt.Errorf("the address of the storage has the account %q; write azblob://container/prefix?account=name with the name of the storage account, which has only a to z and 0 to 9", l.account)
	}
	if endpoint == "" {
		endpoint = "https://" + l.account + ".blob.core.windows.net"
	}
	if l.prefix = strings.Trim(u.Path, "/"); l.prefix != "" {
		if err := object.CheckName(l.prefix); err != nil {
			return nil, fmt.Errorf("the prefix in the address of the storage: %w", err)
		}
		l.prefix += "/"
	}
	l.address = endpoint + "/" + url.PathEscape(u.Host)
	return l, nil
}

// Open returns the Bucket of a URL; see [Check]. Credentials come from environment variables; see
// docs/scale.md. Open sends no request.
func Open(text string) (*Bucket, error) {
	return open(text, http.DefaultTransport.(*http.Transport).Clone())
}

// open is Open with a transport, which it changes.
func open(text string, transport *http.Transport) (*Bucket, error) {
	l, err := parse(text)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = patience
	client, err := l.connect(&http.Client{Transport: transport})
	if err != nil {
		return nil, err
	}
	return &Bucket{container: client, prefix: l.prefix, transport: transport}, nil
}

// Close ends the idle connections.
func (b *Bucket) Close() { b.transport.CloseIdleConnections() }

// blob returns a client for an object.
func (b *Bucket) blob(name string) *blockblob.Client {
	return b.container.NewBlockBlobClient(b.prefix + name)
}

// Create implements object.Bucket.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	free := &blockblob.UploadOptions{AccessConditions: &blob.AccessConditions{
		ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
	}}
	return b.put(ctx, "creating", name, data, free)
}

// Put implements object.Bucket.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	return b.put(ctx, "storing", name, data, nil)
}

// put sends an object in one request.
func (b *Bucket) put(ctx context.Context, action, name string, data []byte, options *blockblob.UploadOptions) error {
	if err := object.Check(ctx, name, data); err != nil {
		return err
	}
	_, err := b.blob(name).Upload(ctx, streaming.NopCloser(bytes.NewReader(data)), options)
	return explain(action, name, err)
}

// Upload implements object.Bucket. An object that is sent in blocks does not exist until the last request,
// which names the blocks.
func (b *Bucket) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := object.CheckUpload(ctx, name, size); err != nil {
		return err
	}
	exact, err := object.NewExactReader(name, r, size)
	if err != nil {
		return err
	}
	_, err = b.blob(name).UploadStream(ctx, exact, &blockblob.UploadStreamOptions{BlockSize: min(blockBytes, size+1), Concurrency: blocksAtOnce})
	if wrong := exact.Fault(); wrong != nil {
		return wrong
	}
	return explain("uploading", name, err)
}

// Read implements object.Bucket.
func (b *Bucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := b.CheckRead(ctx, name); err != nil {
		return nil, err
	}
	if err := object.CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	if length == 0 { // the SDK takes a range without bytes for all bytes
		_, err := b.blob(name).GetProperties(ctx, nil)
		return nil, explain("reading", name, err)
	}
	part := blob.HTTPRange{Offset: offset}
	if length != object.Whole && length <= math.MaxInt64-offset {
		part.Count = length
	}
	answer, err := b.blob(name).DownloadStream(ctx, &blob.DownloadStreamOptions{Range: part})
	if refused := (*azcore.ResponseError)(nil); errors.As(err, &refused) && refused.StatusCode == http.StatusRequestedRangeNotSatisfiable {
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

// List implements object.Bucket. The parameter startfrom only saves requests: List leaves out names up to
// `after` itself, because azurite ignores the parameter.
func (b *Bucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if err := b.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	options := &container.ListBlobsFlatOptions{Prefix: to.Ptr(b.prefix + prefix), MaxResults: to.Ptr(int32(limit))}
	if after != "" {
		options.StartFrom = to.Ptr(b.prefix + after)
		options.MaxResults = to.Ptr(int32(limit + 1)) // the name `after` may be the first one
	}
	var entries []object.Entry
	last := "" // the name before
	for pages := b.container.NewListBlobsFlatPager(options); pages.More(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain("listing", prefix, err)
		}
		if page.Segment == nil {
			continue
		}
		for _, item := range page.Segment.BlobItems {
			if item == nil || item.Name == nil || item.Properties == nil || item.Properties.ContentLength == nil {
				return nil, fmt.Errorf("listing %s: the storage listed an object without its name or its size", prefix)
			}
			name := strings.TrimPrefix(*item.Name, b.prefix)
			if name <= last {
				return nil, fmt.Errorf("listing %s: the storage lists %s after %s, which is not the order of their bytes; use a storage account without hierarchical namespace", prefix, name, last)
			}
			if last = name; name > after {
				entries = append(entries, object.Entry{Name: name, Size: *item.Properties.ContentLength})
			}
			if len(entries) == limit {
				return entries, nil
			}
		}
	}
	return entries, nil
}

// Delete implements object.Bucket.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := object.Check(ctx, name, nil); err != nil {
		return err
	}
	_, err := b.blob(name).Delete(ctx, nil)
	if err = explain("deleting", name, err); errors.Is(err, object.ErrNotFound) {
		return nil
	}
	return err
}
