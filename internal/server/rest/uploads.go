package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/tableimport"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The headers of the protocol tus, and its media type.
const (
	headerTusVersion   = "Tus-Resumable"
	headerUploadOffset = "Upload-Offset"
	headerUploadLength = "Upload-Length"
	headerUploadDefer  = "Upload-Defer-Length"

	tusVersion = "1.0.0"
	mediaPiece = "application/offset+octet-stream"
)

// tusParams are the headers of requests that send pieces.
var tusParams = []Param{
	{Name: headerUploadLength, In: Header, Kind: Text, Description: "The number of bytes of the data, once it is known."},
	{Name: headerTusVersion, In: Header, Kind: Text, Enum: []string{tusVersion}, Description: "The version of the protocol."},
}

// exampleUpload is the id of an upload in examples.
const exampleUpload = "0123456789abcdef0123456789abcdef"

// store returns the uploads of the graph.
func (x *exchange) store() (*uploads.Store, error) {
	if s := x.opts.Uploads[x.g.ID()]; s != nil {
		return s, nil
	}
	return nil, &httpError{envelope.New(wireerror.Missing, client.CodeNotFound, "this server takes no uploads; send the data in one request")}
}

// owner returns the owner of an upload of the caller for a branch.
func (x *exchange) owner(branch tool.BranchName) uploads.Owner {
	key := ""
	if a := x.actor(); a != nil {
		key = a.Tenant + "\x00" + a.Name()
	}
	return uploads.Owner{Actor: key, Branch: string(branch)}
}

// upload returns the upload that the path names. It must be an upload of the caller.
func (x *exchange) upload() (*uploads.Store, *uploads.Upload, error) {
	s, err := x.store()
	if err != nil {
		return nil, nil, err
	}
	u, err := s.Find(x.ctx(), x.r.PathValue("upload"), x.owner("").Actor)
	return s, u, err
}

// receive runs a call about an upload for a branch.
func (x *exchange) receive(branch tool.BranchName, do func(ctx context.Context, env *tool.Env) error) error {
	a, err := x.do(&operations.Upload{Branch: branch, Do: do}, encoding.Options{})
	var refused *uploads.Refused
	switch {
	case errors.As(err, &refused):
		outcome := wireerror.OfRequest
		code := client.CodeBadRequest
		switch refused.Status {
		case http.StatusConflict, http.StatusLocked:
			outcome, code = wireerror.Conflicted, client.CodeConflict
		case http.StatusRequestEntityTooLarge:
			outcome = wireerror.TooLarge
		}
		return &httpError{envelope.New(outcome, code, refused.Message)}
	case err != nil:
		return err
	}
	a.Release()
	return nil
}

// noContent answers a step of an upload.
func (x *exchange) noContent(status int) error {
	h := x.w.Header()
	h.Set(headerTusVersion, tusVersion)
	h.Set("Cache-Control", "no-store")
	x.w.WriteHeader(status)
	return nil
}

// openUpload opens an upload for the data of a load.
func (x *exchange) openUpload() error {
	s, err := x.store()
	if err != nil {
		return err
	}
	var id string
	err = x.receive(x.branch(), func(_ context.Context, env *tool.Env) (err error) {
		id, err = s.Open(x.w, x.r, x.owner(x.branch()), storedBytes(env.Graph))
		return err
	})
	if err != nil {
		return err
	}
	x.w.Header().Set("Location", "/graphs/"+x.g.ID()+"/uploads/"+id)
	return x.noContent(http.StatusCreated)
}

// storedBytes returns the number of bytes that count for the quota of a graph, besides its uploads.
func storedBytes(g engine.Graph) int64 {
	s := g.Stats()
	return s.SegmentBytes + s.LogBytes
}

// appendUpload adds the body to an upload.
func (x *exchange) appendUpload() error {
	if err := wantContent(x.r, mediaPiece); err != nil {
		return err
	}
	s, u, err := x.upload()
	if err != nil {
		return err
	}
	var offset string
	err = x.receive(tool.BranchName(u.Branch), func(_ context.Context, env *tool.Env) (err error) {
		offset, err = s.Append(x.w, x.r, u.ID, func() int64 { return storedBytes(env.Graph) })
		return err
	})
	if err != nil {
		return err
	}
	x.w.Header().Set(headerUploadOffset, offset)
	return x.noContent(http.StatusNoContent)
}

// getUpload answers how much of an upload has arrived.
func (x *exchange) getUpload() error {
	s, u, err := x.upload()
	if err != nil {
		return err
	}
	err = x.receive(tool.BranchName(u.Branch), func(context.Context, *tool.Env) (err error) {
		u, err = s.State(x.w, x.r, u.ID)
		return err
	})
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set(headerTusVersion, tusVersion)
	h.Set(headerUploadOffset, strconv.FormatInt(u.Offset, 10))
	a := client.Upload{UploadID: u.ID, Branch: u.Branch, Offset: u.Offset, ExpiresAt: u.Expires.Format(time.RFC3339)}
	if u.Length < 0 {
		h.Set(headerUploadDefer, "1")
	} else {
		h.Set(headerUploadLength, strconv.FormatInt(u.Length, 10))
		a.Length = &u.Length
	}
	if path, err := s.Path(x.ctx(), u); err == nil {
		a.Read = tableimport.RecordsRead(path)
	}
	return x.reply(&a)
}

// deleteUpload removes an upload.
func (x *exchange) deleteUpload() error {
	s, u, err := x.upload()
	if err != nil {
		return err
	}
	err = x.receive(tool.BranchName(u.Branch), func(context.Context, *tool.Env) error { return s.Delete(x.w, x.r, u.ID) })
	if err != nil {
		return err
	}
	return x.noContent(http.StatusNoContent)
}
