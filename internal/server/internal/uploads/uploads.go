// Package uploads keeps data that clients send in pieces for a later load. The protocol is tus 1.0; a client whose connection
// breaks asks how much has arrived, and sends the rest.
package uploads

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tus/tusd/v2/pkg/filestore"
	"github.com/tus/tusd/v2/pkg/handler"
	"github.com/tus/tusd/v2/pkg/memorylocker"
	"golang.org/x/exp/slog"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const (
	// DefaultKeep is how long an upload is kept after it was opened.
	DefaultKeep = 24 * time.Hour
	// MaxPerActor is the number of uploads that an actor may have at a time.
	MaxPerActor = 16
	// roomEvery is the number of bytes after which a piece asks again whether there is room for more.
	roomEvery = 4 << 20
)

// Options configure a Store.
type Options struct {
	Dir  string        // folder of the uploads of one graph; made by the first upload
	Most int64         // bytes of one upload; 0 for no limit
	Keep time.Duration // how long an upload is kept; 0 for DefaultKeep

	// Quota is the number of bytes that the graph and its uploads may occupy together; 0 for no limit.
	Quota int64

	// Pause is how long a piece may stop to arrive; 0 for two minutes.
	Pause time.Duration
	Now   func() time.Time // nil for clock.Now
}

// Store has the uploads of one graph. It is safe for concurrent use.
type Store struct {
	opts  Options
	files filestore.FileStore
	tus   *handler.UnroutedHandler

	opening sync.Mutex // held while an upload is opened, so that the number of uploads is exact
}

// Owner is who may use an upload, and for what.
type Owner struct {
	Actor  string // key of the actor
	Branch string // name of the branch that the data is for, as the client wrote it
}

// Upload is the state of an upload.
type Upload struct {
	ID string
	Owner
	Offset  int64 // number of bytes that have arrived
	Length  int64 // number of bytes of the whole, or -1 if the client has not said it yet
	Expires time.Time
}

// New returns the uploads in a folder, and removes those that have expired.
func New(o Options) (*Store, error) {
	o.Keep = cmp.Or(o.Keep, DefaultKeep)
	o.Pause = cmp.Or(o.Pause, 2*time.Minute)
	if o.Now == nil {
		o.Now = clock.Now
	}
	s := &Store{opts: o, files: filestore.New(o.Dir)}
	s.files.DirModePerm, s.files.FileModePerm = 0o700, 0o600
	composer := handler.NewStoreComposer()
	composer.UseCore(s.files)
	composer.UseTerminater(s.files)
	composer.UseLengthDeferrer(s.files)
	composer.UseLocker(memorylocker.New())
	var err error
	s.tus, err = handler.NewUnroutedHandler(handler.Config{
		StoreComposer: composer, BasePath: basePath, MaxSize: o.Most, NetworkTimeout: o.Pause, GracefulRequestCompletionTimeout: time.Millisecond, DisableDownload: true, DisableConcatenation: true,
		Logger: slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1})),
		PreUploadCreateCallback: func(hook handler.HookEvent) (handler.HTTPResponse, handler.FileInfoChanges, error) {
			meta, _ := hook.Context.Value(metaKey{}).(handler.MetaData)
			return handler.HTTPResponse{}, handler.FileInfoChanges{MetaData: meta}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	_, err = s.list(context.Background())
	return s, err
}

// basePath is the prefix of the Location header in answers of the library.
const basePath = "http://upload/"

// metaKey is the key of the metadata of a new upload in a context.
type metaKey struct{}

// The metadata of an upload. A client's own metadata is not kept.
const (
	metaActor, metaBranch, metaExpires = "actor", "branch", "expires"
)

// Open opens an upload as a request with the method POST says, and returns its id.
func (s *Store) Open(w http.ResponseWriter, r *http.Request, owner Owner, stored int64) (id string, err error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	all, err := s.list(r.Context())
	if err != nil {
		return "", err
	}
	held := 0
	for _, u := range all {
		if u.Actor == owner.Actor {
			held++
		}
	}
	if held >= MaxPerActor {
		return "", &engine.TooLarge{Resource: "uploads of one actor", Limit: MaxPerActor, Actual: MaxPerActor + 1, Hint: "load or delete some of them"}
	}
	var declared int64
	if _, err := fmt.Sscan(r.Header.Get("Upload-Length"), &declared); err == nil {
		if err := s.room(all, stored, declared); err != nil {
			return "", err
		}
	}
	meta := handler.MetaData{metaActor: owner.Actor, metaBranch: owner.Branch, metaExpires: s.opts.Now().Add(s.opts.Keep).UTC().Format(time.RFC3339)}
	r = r.WithContext(context.WithValue(r.Context(), metaKey{}, meta))
	r.Header.Del("Content-Type") // data in this request would not be counted; it is sent in a request of its own
	a, err := s.serve(w, r, s.tus.PostFile)
	if err != nil {
		return "", err
	}
	time.AfterFunc(s.opts.Keep+time.Minute, func() { _, _ = s.list(context.Background()) }) // the next list tries again
	return strings.TrimPrefix(a.header.Get("Location"), basePath), nil
}

// Append appends the body of a request with the method PATCH to an upload, and returns the number of bytes that have then
// arrived. The function `stored` returns the number of bytes that the graph itself occupies.
func (s *Store) Append(w http.ResponseWriter, r *http.Request, id string, stored func() int64) (offset string, err error) {
	// The library bounds a piece of unknown size only. It refuses an offset other than the number of bytes that have arrived.
	if at, err := strconv.ParseInt(r.Header.Get("Upload-Offset"), 10, 64); err == nil && s.opts.Most > 0 && r.ContentLength > s.opts.Most-at {
		return "", s.tooLong()
	}
	m := &meter{ReadCloser: r.Body, room: func() error {
		all, err := s.list(r.Context())
		if err != nil {
			return err
		}
		return s.room(all, stored(), 1)
	}}
	r = at(r, id)
	r.Body = m
	a, err := s.serve(w, r, s.tus.PatchFile)
	if m.err != nil {
		return "", m.err
	}
	return a.header.Get("Upload-Offset"), err
}

// Delete removes an upload. A piece that is still arriving is cut off.
func (s *Store) Delete(w http.ResponseWriter, r *http.Request, id string) error {
	_, err := s.serve(w, at(r, id), s.tus.DelFile)
	return err
}

// State returns the state of an upload. If a piece is still arriving, State cuts it off first, so that the client can
// send the rest on another connection.
func (s *Store) State(w http.ResponseWriter, r *http.Request, id string) (*Upload, error) {
	r = at(r, id)
	r.Method = http.MethodHead
	if _, err := s.serve(w, r, s.tus.HeadFile); err != nil {
		return nil, err
	}
	return s.find(r.Context(), id)
}

// at returns a request for an upload, in the form that the library takes.
func at(r *http.Request, id string) *http.Request {
	r = r.Clone(r.Context())
	r.URL.Path = "/" + id
	return r
}

// idForm matches the ids of uploads. An id is the name of a file.
var idForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Find returns an upload of an actor. The error is an *engine.NotFound if there is none, or if it has expired.
func (s *Store) Find(ctx context.Context, id, actor string) (*Upload, error) {
	missing := &engine.NotFound{What: "upload", Name: id}
	if !idForm.MatchString(id) {
		return nil, missing
	}
	u, err := s.find(ctx, id)
	switch {
	case errors.Is(err, handler.ErrNotFound):
		return nil, missing
	case err != nil:
		return nil, err
	case u.Actor != actor || !s.opts.Now().Before(u.Expires):
		return nil, missing
	}
	return u, nil
}

// Reader returns the data of an upload that is complete.
func (s *Store) Reader(ctx context.Context, u *Upload) (io.ReadCloser, error) {
	if u.Length != u.Offset {
		return nil, &engine.Conflict{Reason: fmt.Sprintf("the upload is not complete: %d bytes have arrived; send the rest first", u.Offset)}
	}
	file, err := s.files.GetUpload(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	return file.GetReader(ctx)
}

// Path returns the file of an upload that is complete. The caller must not change it; it goes when the upload does.
func (s *Store) Path(ctx context.Context, u *Upload) (string, error) {
	r, err := s.Reader(ctx, u)
	if err != nil {
		return "", err
	}
	return filepath.Join(s.opts.Dir, u.ID), r.Close()
}

// find returns an upload, of whatever owner.
func (s *Store) find(ctx context.Context, id string) (*Upload, error) {
	file, err := s.files.GetUpload(ctx, id)
	if err != nil {
		return nil, err
	}
	info, err := file.GetInfo(ctx)
	if err != nil {
		return nil, err
	}
	u := &Upload{ID: id, Owner: Owner{Actor: info.MetaData[metaActor], Branch: info.MetaData[metaBranch]}, Offset: info.Offset, Length: info.Size}
	if info.SizeIsDeferred {
		u.Length = -1
	}
	u.Expires, _ = time.Parse(time.RFC3339, info.MetaData[metaExpires]) // an upload without a time has expired
	return u, nil
}

// list returns all uploads, and removes those that have expired.
func (s *Store) list(ctx context.Context) (all []*Upload, err error) {
	entries, err := os.ReadDir(s.opts.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".info")
		if !ok || !idForm.MatchString(id) {
			continue
		}
		u, err := s.find(ctx, id)
		switch {
		case err != nil:
			// It was deleted meanwhile, or the process was killed while it wrote the state.
			if info, err := e.Info(); err == nil && s.opts.Now().Sub(info.ModTime()) > s.opts.Keep {
				_ = os.Remove(filepath.Join(s.opts.Dir, id)) // the next list tries again
				_ = os.Remove(filepath.Join(s.opts.Dir, e.Name()))
			}
			continue
		case s.opts.Now().Before(u.Expires):
			all = append(all, u)
			continue
		}
		file, err := s.files.GetUpload(ctx, id)
		if err == nil {
			err = s.files.AsTerminatableUpload(file).Terminate(ctx)
		}
		if err != nil && !errors.Is(err, handler.ErrNotFound) {
			return nil, err
		}
	}
	return all, nil
}

// room returns an *engine.TooLarge if the graph and its uploads would exceed the quota with `more` bytes.
func (s *Store) room(all []*Upload, stored, more int64) error {
	if s.opts.Quota <= 0 {
		return nil
	}
	used := stored + more
	for _, u := range all {
		used += u.Offset
	}
	if used <= s.opts.Quota {
		return nil
	}
	return &engine.TooLarge{Resource: "stored bytes of the graph and its uploads", Limit: s.opts.Quota, Actual: used,
		Hint: "delete data or uploads, or ask the operator to raise the quota of the graph"}
}

// meter is a body that ends when there is no room for more.
type meter struct {
	io.ReadCloser
	room func() error
	left int64 // bytes to read before it asks for room again
	err  error // why the body ended early
}

// Read implements [io.Reader].
func (m *meter) Read(p []byte) (int, error) {
	if m.err == nil && m.left <= 0 {
		m.err, m.left = m.room(), roomEvery
	}
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.ReadCloser.Read(p)
	m.left -= int64(n)
	return n, err
}

// tooLong returns the error for an upload that is, or would become, larger than an upload may be.
func (s *Store) tooLong() *Refused {
	return &Refused{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the upload is larger than the limit of %d bytes; send less, or ask the operator to raise limits.load_bytes", s.opts.Most)}
}

// Refused is a fault of a request in the protocol of uploads.
type Refused struct {
	Status  int // of HTTP
	Message string
}

func (e *Refused) Error() string { return e.Message }

// answer is an answer of the library, which is not sent as it is.
type answer struct {
	below  http.ResponseWriter // sets the deadlines
	header http.Header
	status int
	body   bytes.Buffer
}

// Unwrap returns the writer below, for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.below }

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) { a.status = cmp.Or(a.status, status) }

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// resume says how to go on with an upload.
const resume = "get the upload, and send the rest from its offset"

// serve has the library answer a request. The error is a *Refused, or a fault of the server.
func (s *Store) serve(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) (*answer, error) {
	a := &answer{below: w, header: http.Header{}}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // ends a goroutine of the library
	serve(a, r.WithContext(ctx))
	if a.status < 400 {
		return a, nil
	}
	code, text, _ := strings.Cut(strings.TrimSpace(a.body.String()), ": ")
	status := a.status
	switch {
	case status == http.StatusNotFound:
		return a, &engine.NotFound{What: "upload", Name: strings.Trim(r.URL.Path, "/")}
	case code == handler.ErrMaxSizeExceeded.ErrorCode:
		return a, s.tooLong()
	case code == handler.ErrSizeExceeded.ErrorCode:
		text = "the piece goes past the end of the upload; send the bytes that its length leaves"
		if s.opts.Most > 0 {
			text += fmt.Sprintf(", and at most the %d that limits.load_bytes allows", s.opts.Most)
		}
	case code == handler.ErrMismatchOffset.ErrorCode:
		text = "Upload-Offset is not the number of bytes that have arrived; " + resume
	case code == handler.ErrReadTimeout.ErrorCode, code == handler.ErrConnectionReset.ErrorCode:
		status = http.StatusBadRequest // the library calls these faults of the server
		text = "the piece stopped to arrive; " + resume
	case status >= http.StatusInternalServerError:
		return a, fmt.Errorf("storing an upload: %s", text)
	}
	return a, &Refused{Status: status, Message: text}
}
