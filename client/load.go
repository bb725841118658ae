package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// LoadBody is the JSON body of a load; it contains the data to load.
type LoadBody struct {
	Data     string `json:"data" jsonschema_description:"The lines of NDJSON as one string, with a line feed after each."`
	Branch   string `json:"branch,omitempty" jsonschema_description:"The branch to load into; the default is main."`
	From     string `json:"from,omitempty" jsonschema_description:"The branch from which the server creates branch, if branch does not exist. The server deletes it again if the load fails."`
	Mode     string `json:"mode,omitempty" jsonschema:"enum=merge,enum=patch,enum=append,enum=overwrite,enum=sync" jsonschema_description:"merge, the default, replaces entities that exist; patch changes only the properties in the data, and null clears; append fails on entities that exist; overwrite first removes every entity of the types that occur in the data; sync does as patch, and lets go of what its source claimed before and lacks now."`
	NewEdges bool   `json:"new_edges,omitempty" jsonschema_description:"With merge and patch: edges without an id are new edges if no @unique(src, dst) identifies them."`
	LastWins bool   `json:"last_wins,omitempty" jsonschema_description:"With merge and patch: of several lines with one entity the last stands. Otherwise they are a fault."`
	DryRun   bool   `json:"dry_run,omitempty" jsonschema_description:"Commit nothing; report what the load would do."`

	Source         string   `json:"source,omitempty" jsonschema_description:"With sync: the name of the source."`
	Types          []string `json:"types,omitempty" jsonschema_description:"With sync: the types in which what the source claimed, and the data lack, is let go; it is deleted if a source created it and none claims it any more."`
	Yield          []string `json:"yield,omitempty" jsonschema_description:"With sync: properties, as Type.property, that stay as they are where another source owns them."`
	Cascade        bool     `json:"cascade,omitempty" jsonschema_description:"With sync: delete nodes together with edges that the source does not own."`
	ApproveDeletes int32    `json:"approve_deletes,omitempty" jsonschema:"minimum=0" jsonschema_description:"With sync: the number of entities to delete, if it is more than a fifth of a type's claimed entities."`
}

// The values of LoadBody.Mode and LoadQuery.Mode.
const (
	ModeMerge     = "merge"
	ModePatch     = "patch"
	ModeAppend    = "append"
	ModeOverwrite = "overwrite"
	ModeSync      = "sync"
)

// LoadAnswer is the answer to a load. Its members are in the order in which the server sends them.
type LoadAnswer struct {
	LoadedData
	Commit  *CommitAnswer `json:"commit" jsonschema_description:"The commit; null if nothing changed, and in a dry run."`
	ActorID *string       `json:"actor_id"` // who loaded the data; null if not known
	DryRun  bool          `json:"dry_run,omitempty" jsonschema_description:"Nothing was committed; the answer says what the write would do."`
	Sync    *SyncAnswer   `json:"sync,omitempty" jsonschema_description:"What the mode sync, or a load of changes of a followed source, did beyond the lines."`

	Position string `json:"position,omitempty" jsonschema_description:"The position of the followed database after the load; only for a load with followed."`
}

// SyncAnswer says what a load in the mode sync did beyond its lines.
type SyncAnswer struct {
	Overwritten int64      `json:"overwritten" jsonschema_description:"Values of the source that others had changed, and that were set again."`
	Released    int64      `json:"released" jsonschema_description:"Entities that the source let go and that stay."`
	Deleted     int64      `json:"deleted" jsonschema_description:"Entities that no source claims any more."`
	Cascaded    int64      `json:"cascaded" jsonschema_description:"Edges that were deleted together with their nodes."`
	Kept        int64      `json:"kept" jsonschema_description:"Nodes that stay because of edges that the source does not own."`
	KeptNodes   []KeptNode `json:"kept_nodes" jsonschema_description:"The first of these nodes."`
}

// KeptNode is a node that a load in the mode sync kept because of its edges.
type KeptNode struct {
	Type string `json:"type"` // node type
	ID   string `json:"id"`
}

// LoadedData is the part of the answer to a load that describes the loaded data and identifies the
// branch.
type LoadedData struct {
	Branch        string       `json:"branch" jsonschema_description:"The branch that was loaded into."`
	BaseBranch    *string      `json:"base_branch" jsonschema_description:"The branch that the load created it from; null if it existed."`
	BranchCreated bool         `json:"branch_created"` // the load created the branch
	Mode          string       `json:"mode" jsonschema:"enum=merge,enum=patch,enum=append,enum=overwrite,enum=sync"`
	Nodes         []LoadedType `json:"nodes"`          // for each node type in the data
	Edges         []LoadedType `json:"edges"`          // for each edge type in the data
	TotalEntities int64        `json:"total_entities"` // number of nodes and edges in the data

	// Target is the draft that was loaded into; nil for another branch.
	Target *WriteTarget `json:"target,omitempty" jsonschema_description:"The draft that was loaded into; only for a draft."`

	WriteEffects
}

// LoadedType counts the entities of one type in the input of a load.
type LoadedType struct {
	Name           string `json:"name"`            // name of the type
	EntitiesLoaded int64  `json:"entities_loaded"` // number of entities of the type
}

// TextLoadAnswer is the answer to a load whose data was a member of a JSON body.
type TextLoadAnswer struct {
	LoadAnswer
	URI string `json:"uri"` // identifies the graph, such as omnigraph://people
}

// LoadQuery says how to load a stream of NDJSON.
type LoadQuery struct {
	Branch   string // the branch to load into; main if it is empty
	From     string // the branch to create Branch from, if that does not exist
	Mode     string // ModeMerge if it is empty
	DryRun   bool   // commit nothing
	NewEdges bool   // with merge and patch: edges that nothing identifies are new
	LastWins bool   // with merge and patch: of several lines with one entity the last stands
	Upload   string // a complete upload for the branch, to load instead of the data; the data is then nil

	Source         string   // with ModeSync: the name of the source; with ModePatch and Followed: the source that claims the lines
	Types          []string // with ModeSync: the types in which the load lets go of what the data lack
	Yield          []string // with ModeSync: properties, as Type.property, that other sources may own
	Cascade        bool     // with ModeSync: delete nodes together with the edges of others
	ApproveDeletes int64    // with ModeSync: approve exactly as many deletes

	// Followed, if set, is the name of a database that the graph follows. The lines are its changes, and move its position on the
	// branch from After to Position. Such a load has no idempotency key, and Load does not repeat it: the position tells whether
	// it was made. Without a Position and without lines, the load only reports the position.
	Followed, After, Position string
}

// Load loads nodes and edges as NDJSON, as one commit or not at all. It reads the data once, and holds at most 8 MiB of them
// in memory, so it can repeat its requests also if the data come from a pipe. It sends data of 8 MiB or more in pieces, as
// an upload: after a broken connection, it continues where the server has stopped to receive.
func (g *Graph) Load(ctx context.Context, data io.Reader, load LoadQuery, options ...WriteOption) (*LoadAnswer, error) {
	query := url.Values{}
	for name, v := range map[string]string{"branch": load.Branch, "from": load.From, "mode": load.Mode, "upload": load.Upload,
		"source": load.Source, "types": strings.Join(load.Types, ","), "yield": strings.Join(load.Yield, ","),
		"followed": load.Followed, "after": load.After, "position": load.Position} {
		setText(query, name, v)
	}
	for name, set := range map[string]bool{"dry_run": load.DryRun, "new_edges": load.NewEdges, "last_wins": load.LastWins, "cascade": load.Cascade} {
		if set {
			query.Set(name, strconv.FormatBool(true))
		}
	}
	if load.ApproveDeletes != 0 {
		query.Set("approve_deletes", strconv.FormatInt(load.ApproveDeletes, 10))
	}
	q := &request{method: http.MethodPost, path: g.path + "/load/ndjson", query: query, header: http.Header{}, media: "application/x-ndjson", size: -1}
	if q.under(load.DryRun, options); load.Followed != "" {
		q.withoutKey()
	}
	switch {
	case load.Upload != "":
		q.size = 0
		return ask[LoadAnswer](ctx, g.c, q)
	case g.c.inProcess:
		end := q.stream(data)
		defer end()
		return ask[LoadAnswer](ctx, g.c, q)
	}
	length := left(data)
	piece, err := io.ReadAll(io.LimitReader(data, pieceBytes))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the data to load: %w", err)
	case len(piece) < pieceBytes:
		q.size, q.body = int64(len(piece)), func() (io.Reader, error) { return bytes.NewReader(piece), nil }
		return ask[LoadAnswer](ctx, g.c, q)
	}
	id, err := g.sendUpload(ctx, load.Branch, piece[:pieceBytes:pieceBytes], data, length)
	if id != "" {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = g.DeleteUpload(ctx, id) // without it the server deletes the upload within a day
		}()
	}
	if err != nil {
		return nil, err
	}
	q.query.Set("upload", id)
	return ask[LoadAnswer](ctx, g.c, q)
}

// left returns the number of bytes that are left of the data, or -1 if it is unknown.
func left(data io.Reader) int64 {
	seeker, ok := data.(io.Seeker)
	if !ok {
		return -1
	}
	// A pipe implements io.Seeker too, but its Seek fails.
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if _, back := seeker.Seek(start, io.SeekStart); err != nil || back != nil || end < start {
		return -1
	}
	return end - start
}

// stream sets the body of the request to the rest of data, for a handler in this process. The caller must call `end` as soon
// as it has the answer: the reader then belongs to the user of the package again. Without the call, the handler could still
// read from it.
func (q *request) stream(data io.Reader) (end func()) {
	q.size = left(data)
	lent := &lentReader{data: data}
	q.body = func() (io.Reader, error) { return lent, nil }
	// Wait only for a Seeker: a running read from a pipe may never return.
	return func() { lent.end(q.size >= 0) }
}

// lentReader lets one request read from the user's reader until `end` is called. It also hides the type of the reader, so
// that nothing closes it or treats it specially.
type lentReader struct {
	mu    sync.Mutex  // held while data is read
	data  io.Reader   // the user's reader
	ended atomic.Bool // the request is over, so data must not be read any more
}

// Read implements [io.Reader].
func (r *lentReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended.Load() {
		return 0, io.ErrClosedPipe
	}
	return r.data.Read(p)
}

// end makes all further reads fail. If `wait` is true, end waits for a running read to return.
func (r *lentReader) end(wait bool) {
	r.ended.Store(true)
	if wait {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
}

// LoadText loads the NDJSON in the body, as one commit or not at all.
func (g *Graph) LoadText(ctx context.Context, body LoadBody, options ...WriteOption) (*TextLoadAnswer, error) {
	q, err := posting(g.path+"/load", body)
	if err != nil {
		return nil, err
	}
	q.under(body.DryRun, options)
	return ask[TextLoadAnswer](ctx, g.c, q)
}
