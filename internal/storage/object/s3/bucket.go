// Package s3 keeps the objects of an object.Bucket in an S3 bucket, or in another storage with S3's
// protocol and conditional writes.
//
// Create is a PUT with the header If-None-Match: *. The client library sends each request only
// once: if a first attempt made the object and its reply was lost, the storage would refuse the
// repeated PUT.
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// defaultRegion is the region of a bucket if the URL names none.
const defaultRegion = "us-east-1"

// Bucket is an object.Bucket below a prefix of an S3 bucket.
type Bucket struct {
	object.Names
	client *minio.Core // connection to the server
	bucket string      // name of the S3 bucket
	prefix string      // of the keys of all objects; empty, or ends with a slash
}

// Open returns the Bucket of a URL of the form s3://bucket/prefix?region=eu-central-1. The parameter
// `endpoint`, such as http://127.0.0.1:7070, names a server other than AWS. Credentials come from the
// environment variables of AWS, a profile of its shared files, a web identity, or the role of the machine;
// the first of them that exists counts. Open sends no request.
func Open(address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, errors.New("the address of the storage is not a URL such as s3://bucket/prefix?region=eu-central-1")
	}
	options := &minio.Options{Secure: true, Region: defaultRegion, MaxRetries: 1, Creds: fromEnvironment()}
	host := "s3.amazonaws.com"
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; name {
		case "region":
			options.Region = value
		case "endpoint":
			endpoint, err := url.Parse(value)
			if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
				return nil, fmt.Errorf("the endpoint %q of the storage is not a URL such as https://minio.internal:9000", value)
			}
			host, options.Secure, options.BucketLookup = endpoint.Host, endpoint.Scheme == "https", minio.BucketLookupPath
		default:
			return nil, fmt.Errorf("the address of the storage has the unknown parameter %q; use region and endpoint", name)
		}
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		if err := object.CheckName(prefix); err != nil {
			return nil, fmt.Errorf("the prefix in the address of the storage: %w", err)
		}
		prefix += "/"
	}
	client, err := minio.NewCore(host, options)
	if err != nil {
		return nil, fmt.Errorf("the address of the storage: %w", err)
	}
	return &Bucket{client: client, bucket: u.Host, prefix: prefix}, nil
}

// fromEnvironment returns the credentials of this process. They are read at the first request, and again
// before they expire.
func fromEnvironment() *credentials.Credentials {
	role := &credentials.IAM{}
	if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		role.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS") // "" means the service of AWS in the region
	}
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, role})
}

// Create implements object.Bucket.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	if err := object.Check(ctx, name, data); err != nil {
		return err
	}
	options := minio.PutObjectOptions{DisableMultipart: true}
	options.SetMatchETagExcept("*")
	return b.put(ctx, "creating", name, bytes.NewReader(data), int64(len(data)), options)
}

// Put implements object.Bucket.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	if err := object.Check(ctx, name, data); err != nil {
		return err
	}
	return b.put(ctx, "storing", name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{DisableMultipart: true})
}

// Upload implements object.Bucket. Large objects are sent in parts.
func (b *Bucket) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := object.CheckUpload(ctx, name, size); err != nil {
		return err
	}
	exact, err := object.NewExactReader(name, r, size)
	if err != nil {
		return err
	}
	err = b.put(ctx, "uploading", name, exact, size, minio.PutObjectOptions{})
	if wrong := exact.Fault(); wrong != nil {
		return wrong
	}
	return err
}

// put sends an object.
func (b *Bucket) put(ctx context.Context, action, name string, r io.Reader, size int64, options minio.PutObjectOptions) error {
	_, err := b.client.Client.PutObject(ctx, b.bucket, b.prefix+name, r, size, options)
	return explain(action, name, err)
}

// Read implements object.Bucket.
func (b *Bucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := b.CheckRead(ctx, name); err != nil {
		return nil, err
	}
	if err := object.CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	var options minio.GetObjectOptions
	switch {
	case length == 0: // a Range header cannot request an empty range
		_, err := b.client.StatObject(ctx, b.bucket, b.prefix+name, options)
		return nil, explain("reading", name, err)
	case length != object.Whole && length <= math.MaxInt64-offset:
		options.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		options.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	body, _, _, err := b.client.GetObject(ctx, b.bucket, b.prefix+name, options)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return nil, nil // the object ends before the range
	} else if err != nil {
		return nil, explain("reading", name, err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, explain("reading", name, err)
	}
	return data, nil
}

// List implements object.Bucket.
func (b *Bucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if err := b.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the iterator, which otherwise fetches the next page
	if after != "" {
		after = b.prefix + after
	}
	var entries []object.Entry
	for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{
		Prefix: b.prefix + prefix, StartAfter: after, Recursive: true, MaxKeys: limit,
	}) {
		if o.Err != nil {
			return nil, explain("listing", prefix, o.Err)
		}
		entries = append(entries, object.Entry{Name: strings.TrimPrefix(o.Key, b.prefix), Size: o.Size})
		if len(entries) == limit {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return entries, nil
}

// Delete implements object.Bucket.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := object.Check(ctx, name, nil); err != nil {
		return err
	}
	err := explain("deleting", name, b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, object.ErrNotFound) {
		return nil
	}
	return err
}

// explain turns an error of the client library into an error of object.Bucket.
func explain(action, name string, err error) error {
	if err == nil {
		return nil
	}
	if meaning := meaning(err); meaning != nil {
		return fmt.Errorf("%s %s: %w: %w", action, name, meaning, err)
	}
	return fmt.Errorf("%s %s: %w", action, name, err)
}

// meaning translates an error of the client library into an error of package object. It returns nil
// if the storage did not carry out the request and a repetition would not help.
func meaning(err error) error {
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "TooManyRequests", "RequestLimitExceeded", "ConditionalRequestConflict":
		return object.ErrBusy
	case "NoSuchKey":
		return object.ErrNotFound
	case "PreconditionFailed":
		return object.ErrExists
	}
	switch status := answer.StatusCode; {
	case status == http.StatusPreconditionFailed:
		return object.ErrExists
	case status == http.StatusTooManyRequests:
		return object.ErrBusy
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout && answer.Code != "RequestTimeout":
		return nil
	}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return object.ErrBusy // nothing was sent
	}
	return object.ErrUnknown // no answer, or a fault of the server that may have come after the write
}
