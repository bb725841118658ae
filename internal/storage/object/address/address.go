// Package address connects to the storage that a URL names.
package address

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/gcs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3"
)

// Forms lists the URLs that Open accepts.
const Forms = "s3://bucket/prefix?region=eu-central-1, gs://bucket/prefix, azblob://container/prefix?account=name (needs the build tag azure), postgres://user@host/database?schema=omnigraph, or file:///path/of/a/folder for servers on one machine"

// Is reports whether text is a URL and not the path of a folder.
func Is(text string) bool { return strings.Contains(text, "://") }

// Check returns an error if text is not the URL of a storage. It sends no request.
func Check(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("the address of the storage is not a URL; write " + Forms) // err repeats the text, which may contain a password
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("the part of the address of the storage after the question mark is malformed; write " + Forms) // err may repeat a password
	}
	if _, secret := u.User.Password(); secret || hideSecrets(parameters) {
		return errors.New("the address of the storage contains a password; remove it, and set PGPASSWORD or write a file .pgpass")
	}
	switch u.Scheme {
	case "s3":
		_, err := s3.Open(text)
		return err
	case "gs":
		return gcs.Check(text)
	case "azblob":
		return checkAzure(text)
	case "postgres", "postgresql":
		if u.Host == "" && u.Query().Get("host") == "" {
			return errors.New("the address of the database names no host; write postgres://user@host/database?schema=omnigraph")
		}
		return nil
	case "file":
		_, err := folderOf(u)
		return err
	}
	return &SchemeError{Scheme: u.Scheme}
}

// hideSecrets overwrites the passwords in the parameters of a URL, and reports whether there were any.
func hideSecrets(parameters url.Values) (found bool) {
	for name := range parameters {
		switch strings.ToLower(name) {
		case "password", "sslpassword":
			parameters.Set(name, "xxxxx")
			found = true
		}
	}
	return found
}

// Redacted returns the URL of a storage without passwords, for messages.
func Redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "with an address that is not a URL"
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		u.RawQuery = "" // which of its parts are passwords is unknown
	} else if hideSecrets(parameters) {
		u.RawQuery = parameters.Encode()
	}
	return u.Redacted()
}

// SchemeError is the error for a storage that this program does not support.
type SchemeError struct {
	Scheme string
	Tag    string // build tag that adds the support; empty if there is none
}

func (e *SchemeError) Error() string {
	if e.Tag != "" {
		return fmt.Sprintf("the address of the storage has the scheme %q, which this program was built without; build it with: go build -tags %s", e.Scheme, e.Tag)
	}
	return fmt.Sprintf("the address of the storage has the scheme %q, which is not supported; write %s", e.Scheme, Forms)
}

// folderOf returns the folder that a file:// URL names.
func folderOf(u *url.URL) (string, error) {
	if u.Host != "" || !filepath.IsAbs(u.Path) || u.RawQuery != "" {
		return "", errors.New("the address of the storage must have three slashes and then an absolute path, such as file:///srv/graphs")
	}
	return filepath.Clean(u.Path), nil
}

// Open connects to the storage of a URL; see [Forms]. Credentials come from the environment. Open
// also returns a function, which the caller must call when it no longer uses the Bucket.
func Open(ctx context.Context, text string) (object.Bucket, func(), error) {
	if err := Check(text); err != nil {
		return nil, nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	nothing := func() {}
	switch u.Scheme {
	case "s3":
		b, err := s3.Open(text)
		if err != nil {
			return nil, nil, err
		}
		return b, nothing, nil
	case "gs":
		b, err := gcs.Open(ctx, text)
		if err != nil {
			return nil, nil, err
		}
		return b, b.Close, nil
	case "azblob":
		return openAzure(text)
	case "file":
		dir, err := folderOf(u)
		if err != nil {
			return nil, nil, err
		}
		b, err := object.NewFolder(fs.OS(), dir)
		if err != nil {
			return nil, nil, fmt.Errorf("using the folder of the shared storage: %w", err)
		}
		return b, nothing, nil
	}
	b, err := postgres.Open(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Close, nil
}

// Foreign reads objects that other programs made, with any names. The methods are those of [object.Bucket].
type Foreign interface {
	Read(ctx context.Context, name string, offset, length int64) ([]byte, error)
	List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error)
}

// IsForeign reports whether text is the URL of an object that OpenForeign reads.
func IsForeign(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (scheme == "s3" || scheme == "gs" || scheme == "azblob")
}

// OpenForeign connects to the storage of the object that a URL of the scheme s3, gs or azblob names, as Open does for a prefix. The URL
// may have a pattern in place of the name, which it returns too.
func OpenForeign(ctx context.Context, text string) (b Foreign, name string, done func(), err error) {
	u, err := url.Parse(text)
	if err != nil || !IsForeign(text) {
		return nil, "", nil, errors.New("the address of the object is not a URL such as s3://bucket/folder/file.csv?region=eu-central-1")
	}
	name = strings.TrimPrefix(u.Path, "/")
	u.Path, u.RawPath = "", ""
	bucket, done, err := Open(ctx, u.String())
	if err != nil {
		return nil, "", nil, err
	}
	bucket.(interface{ AcceptAny() }).AcceptAny()
	return bucket, name, done, nil
}

// Probe opens several connections to the storage of a URL. It tests that, if several of them create
// the same object at the same time, exactly one succeeds; see [object.Probe].
func Probe(ctx context.Context, text string) error {
	var closers []func()
	defer func() {
		for _, c := range closers {
			c()
		}
	}()
	return object.Probe(ctx, func() (object.Bucket, error) {
		b, done, err := Open(ctx, text)
		if err == nil {
			closers = append(closers, done)
		}
		return b, err
	}, "")
}
