package rest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// object reads the body as a JSON object. No body at all is an empty object.
func (s *server) object(w http.ResponseWriter, r *http.Request) (*tool.Object, error) {
	if r.ContentLength > s.opts.MaxBody {
		return nil, tooLarge(s.opts.MaxBody)
	}
	body := http.MaxBytesReader(w, r.Body, s.opts.MaxBody)
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, unreadable(err)
	}
	if len(b) == 0 {
		return tool.Members(nil), nil
	}
	if err := wantContent(r, "application/json"); err != nil {
		return nil, err
	}
	return tool.Members(b), nil
}

// wantContent holds a request to the media type of its body, which comes as it is.
func wantContent(r *http.Request, want string) error {
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && coding != "identity" {
		return &httpError{envelope.New(http.StatusUnsupportedMediaType, service.BadRequest,
			fmt.Sprintf("found content encoding %q, wanted none; send the body uncompressed", coding))}
	}
	got := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(got)
	if err == nil && media == want {
		return nil
	}
	return &httpError{envelope.New(http.StatusUnsupportedMediaType, service.BadRequest,
		fmt.Sprintf("found content type %q, wanted %s", got, want))}
}

// unreadable is the fault of a body that could not be read to its end.
func unreadable(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return tooLarge(tooBig.Limit)
	}
	return &httpError{envelope.New(http.StatusBadRequest, service.BadRequest, "the request body could not be read")}
}

func tooLarge(limit int64) error {
	return &httpError{envelope.New(http.StatusRequestEntityTooLarge, service.BadRequest,
		fmt.Sprintf("the request body is larger than the %d bytes that it may have", limit))}
}

// limited reads a body up to its limit and remembers that the limit was passed, also
// when whoever reads it reports that in words of its own.
type limited struct {
	r   io.Reader
	err error // the first that is not io.EOF
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF && l.err == nil {
		l.err = err
	}
	return n, err
}
