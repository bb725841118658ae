package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// download is a file of an https server.
type download struct {
	f       *Fetcher
	url     string
	version string // the ETag or the date of the file, which a later part must have; "" if the server gives none
}

// client returns a client that follows redirects to https only.
func (f *Fetcher) client() *http.Client {
	c := http.Client{Transport: http.DefaultTransport}
	if f.Client != nil {
		c = *f.Client
	}
	if t, ok := c.Transport.(*http.Transport); ok {
		t = t.Clone()
		t.ResponseHeaderTimeout = quietTime
		t.DisableCompression = true // lengths and ranges are those of the file
		c.Transport = t
	}
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Scheme != "https":
			return &permanentError{fmt.Errorf("the server redirects to %s, which is not encrypted; name the file that it redirects to, if you trust it", r.URL.Scheme)}
		case len(via) >= 10:
			return &permanentError{errors.New("the server redirects more than ten times")}
		}
		r.Header.Del("Referer") // it has the query of the first URL, which may be a signature
		return nil
	}
	return &c
}

// read implements [source].
func (d *download) read(ctx context.Context, w io.Writer, offset int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return &permanentError{errors.New("the URL is not valid")}
	}
	if offset > 0 {
		if d.version == "" {
			return &permanentError{errors.New("the connection broke, and the server does not say which version of the file it sends, so that the copy cannot go on; copy the file here and name the copy")}
		}
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		r.Header.Set("If-Range", d.version)
	}
	client := d.f.client()
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return withoutURL(err)
	}
	defer answer.Body.Close()
	switch {
	case offset == 0 && answer.StatusCode == http.StatusOK:
		d.version = answer.Header.Get("Last-Modified")
		if tag := answer.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
			d.version = tag
		}
	case offset > 0 && answer.StatusCode == http.StatusPartialContent && strings.HasPrefix(answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", offset)):
	case offset > 0 && answer.StatusCode < 300:
		return &permanentError{errors.New("the connection broke, and the file has changed since, or the server cannot send the rest of a file; copy the file here and name the copy")}
	case answer.StatusCode >= 500, answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode == http.StatusRequestTimeout:
		return fmt.Errorf("the server answered %s", answer.Status)
	default:
		return &permanentError{fmt.Errorf("the server answered %s", answer.Status)}
	}
	quiet := time.AfterFunc(quietTime, func() { cancel(errors.New("the server sent nothing for a minute")) })
	defer quiet.Stop()
	_, err = io.Copy(w, &awake{answer.Body, quiet})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return withoutURL(err)
}

// awake postpones a timer with each byte.
type awake struct {
	io.Reader
	quiet *time.Timer
}

// Read implements [io.Reader].
func (a *awake) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.quiet.Reset(quietTime)
	}
	return n, err
}

// withoutURL returns the reason of an error without the URL, which may have a password or a signature.
func withoutURL(err error) error {
	var named *url.Error
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
