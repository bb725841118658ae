package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
)

// Upload is data for a load that a client sends in pieces.
type Upload struct {
	UploadID  string `json:"upload_id"`
	Branch    string `json:"branch" jsonschema_description:"The branch that the data is for, as the client wrote it; empty for the default."`
	Offset    int64  `json:"offset"` // number of bytes that have arrived
	Length    *int64 `json:"length" jsonschema_description:"The number of bytes of the whole data; null if the client has not said it yet."`
	ExpiresAt string `json:"expires_at"` // when the server deletes the upload
	Read      int64  `json:"records_read,omitempty" jsonschema_description:"How many records of the table the server has read, while it imports the upload or proposes a map for it."`
}

// pieceBytes is the size of the pieces in which [Graph.Load] sends data. Smaller data goes in one request.
const pieceBytes = 8 << 20

// OpenUpload opens an upload of data for a load into a branch, and returns its id. If the number of bytes is not known,
// `length` is negative.
func (g *Graph) OpenUpload(ctx context.Context, branch string, length int64) (id string, err error) {
	q := &request{method: http.MethodPost, path: g.path + "/uploads", query: url.Values{}, header: http.Header{}, repeats: true, also: http.StatusCreated}
	setText(q.query, "branch", branch)
	if length >= 0 {
		setLength(q, length)
	} else {
		q.header.Set("Upload-Defer-Length", "1")
	}
	resp, err := g.c.open(ctx, q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return path.Base(resp.Header.Get("Location")), nil
}

// setLength sets the header with the number of bytes of an upload.
func setLength(q *request, length int64) {
	q.header.Set("Upload-Length", strconv.FormatInt(length, 10))
}

// AppendUpload appends a piece to an upload. The offset is the number of bytes before the piece. With the last piece of an upload that was opened
// without a length, `length` is the number of all bytes; otherwise it is negative. AppendUpload sends the piece once: after an error,
// [Graph.Upload] says how much of it has arrived.
func (g *Graph) AppendUpload(ctx context.Context, id string, offset int64, piece []byte, length int64) error {
	q := g.ofUpload(http.MethodPatch, id)
	q.media, q.size, q.also = "application/offset+octet-stream", int64(len(piece)), http.StatusNoContent
	q.body = func() (io.Reader, error) { return bytes.NewReader(piece), nil }
	q.header.Set("Upload-Offset", strconv.FormatInt(offset, 10))
	if length >= 0 {
		setLength(q, length)
	}
	resp, err := g.c.attempt(ctx, q)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Upload returns the state of an upload. If a piece is still arriving, the server cuts it off.
func (g *Graph) Upload(ctx context.Context, id string) (*Upload, error) {
	q := g.ofUpload(http.MethodGet, id)
	q.repeats = true
	return ask[Upload](ctx, g.c, q)
}

// DeleteUpload deletes an upload.
func (g *Graph) DeleteUpload(ctx context.Context, id string) error {
	q := g.ofUpload(http.MethodDelete, id)
	q.also = http.StatusNoContent
	resp, err := g.c.open(ctx, q)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// ofUpload returns a request about an upload.
func (g *Graph) ofUpload(method, id string) *request {
	return &request{method: method, path: g.path + "/uploads/" + segment(id), header: http.Header{}}
}

// sendUpload opens an upload and sends the data in pieces, the first of which was already read. If a connection breaks, it sends
// the rest of the piece on another one.
func (g *Graph) sendUpload(ctx context.Context, branch string, first []byte, data io.Reader, length int64) (id string, err error) {
	if id, err = g.OpenUpload(ctx, branch, length); err != nil {
		return "", err
	}
	declared := length >= 0
	for offset, piece := int64(0), first; ; {
		all := int64(-1)
		if len(piece) == 0 && !declared {
			all = offset
		}
		if len(piece) > 0 || all >= 0 {
			if err := g.sendPiece(ctx, id, offset, piece, all); err != nil {
				return id, err
			}
		}
		if len(piece) == 0 {
			return id, nil
		}
		offset += int64(len(piece))
		n, err := io.ReadFull(data, first[:cap(first)])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return id, fmt.Errorf("reading the data to load: %w", err)
		}
		piece = first[:n]
	}
}

// sendPiece appends a piece. If a connection breaks, it asks how much has arrived, and sends the rest.
func (g *Graph) sendPiece(ctx context.Context, id string, offset int64, piece []byte, length int64) error {
	again, begun := false, offset
	send := func() (struct{}, error) {
		if again {
			state, err := ask[Upload](ctx, g.c, g.ofUpload(http.MethodGet, id))
			if err != nil {
				return struct{}{}, lost(ctx, err)
			}
			arrived := state.Offset - offset
			if arrived < 0 || arrived > int64(len(piece)) {
				return struct{}{}, fmt.Errorf("%d bytes of the upload have arrived, expected %d to %d", state.Offset, offset, offset+int64(len(piece)))
			}
			offset, piece = state.Offset, piece[arrived:]
			if len(piece) == 0 && (length < 0 || state.Length != nil) {
				return struct{}{}, nil
			}
		}
		again = true
		return struct{}{}, lost(ctx, g.AppendUpload(ctx, id, offset, piece, length))
	}
	for {
		_, err := retry(ctx, g.c, send)
		if !errors.As(err, new(lostPiece)) || offset == begun {
			return err
		}
		begun = offset // some bytes have arrived, so the connection is not lost for good
	}
}

// lostPiece is an error after which the state of an upload tells how to continue.
type lostPiece struct{ error }

// Unwrap returns the error.
func (e lostPiece) Unwrap() error { return e.error }

// lost marks an error of a piece that another request may repair: the connection broke, also that of a proxy, or the server has
// another number of bytes.
func lost(ctx context.Context, err error) error {
	var refused *Error
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.As(err, &refused) && !slices.Contains([]int{http.StatusConflict, http.StatusBadGateway, http.StatusGatewayTimeout}, refused.Status) {
		return err
	}
	return lostPiece{err}
}
