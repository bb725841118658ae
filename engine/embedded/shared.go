package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// OpenURL opens the graph in the shared storage that a URL names, as its writer. From then on, a former writer cannot
// write any more; [FollowURL] opens a graph for reading beside its writer. The URL is one of
// s3://bucket/prefix?region=eu-central-1, gs://bucket/prefix, azblob://container/prefix?account=name (needs the build
// tag azure), postgres://user@host/database?schema=name, or file:///path/of/a/folder for processes on one machine. It
// holds one graph; the graphs of a server lie in graph/ID/INCARNATION/ below the server's storage. Credentials come from
// the environment. Copies of segments are kept in a temporary folder, or in that of [CacheIn].
//
// With [OrCreate], OpenURL creates a graph if the storage holds none. It first probes whether the storage keeps its
// promises, such as never to replace an object. The errors are those of [OpenDir].
func OpenURL(ctx context.Context, url string, options ...OpenOption) (*Graph, error) {
	o := newOpenOptions(options)
	g, err := openAt(ctx, url, o, OpenShared)
	var missing *engine.NotFound
	if o.schema == nil || !errors.As(err, &missing) {
		return g, err
	}
	if err := address.Probe(ctx, url); err != nil {
		return nil, &engine.Unavailable{Reason: fmt.Sprintf("the shared storage %s cannot be used: %v", address.Redacted(url), err)}
	}
	g, err = openAt(ctx, url, o, func(ctx context.Context, at SharedPlace, opts Options) (*Graph, error) {
		return CreateShared(ctx, at, o.source, o.schema, opts)
	})
	var made *engine.Conflict
	if errors.As(err, &made) { // another process made the graph since OpenShared
		return openAt(ctx, url, o, OpenShared)
	}
	return g, err
}

// FollowURL opens the graph in the shared storage that a URL names, for reading; see [OpenURL] and [Follow]. OrCreate
// has no effect.
func FollowURL(ctx context.Context, url string, options ...OpenOption) (*Follower, error) {
	return openAt(ctx, url, newOpenOptions(options), Follow)
}

// openAt connects to the storage of a URL and opens a graph in it. Closing the graph ends the connection.
func openAt[T any](ctx context.Context, url string, o openOptions, open func(context.Context, SharedPlace, Options) (*T, error)) (*T, error) {
	bucket, disconnect, err := address.Open(ctx, url)
	if err != nil {
		return nil, &engine.Unavailable{Reason: fmt.Sprintf("the shared storage %s: %v", address.Redacted(url), err)}
	}
	at := SharedPlace{Bucket: bucket, Cache: o.cache}
	if o.cache == "" {
		if at.Cache, err = os.MkdirTemp("", "omnigraph-cache-"); err != nil {
			disconnect()
			return nil, &engine.Unavailable{Reason: "making the folder of the cache: " + err.Error()}
		}
	}
	at.closed = sync.OnceFunc(func() {
		disconnect()
		if o.cache == "" {
			_ = os.RemoveAll(at.Cache) // what stays is a copy in the folder for temporary files
		}
	})
	g, err := open(ctx, at, o.Options)
	if err != nil {
		at.closed()
		var missing *engine.NotFound
		if errors.As(err, &missing) {
			err = &engine.NotFound{What: "graph in shared storage", Name: address.Redacted(url)}
		}
		return nil, err
	}
	return g, nil
}

// SharedPlace says where a graph in shared storage is, and which server uses it. Bucket and Cache
// are required.
type SharedPlace struct {
	Bucket object.Bucket // the shared storage
	Prefix string        // of the names of the graph's objects; ends with "/", or is empty
	FS     fs.FS         // file system of the cache; nil means fs.OS()
	Cache  string        // folder for copies of the graph's segments, for this process and graph alone
	Bound  *CacheBound   // of the caches of all graphs that share it; nil for no bound

	// Node, Incarnation and Address identify this server in the log, for operators.
	Node, Incarnation, Address string

	// Patience is how long a call repeats requests that the storage does not answer. 0 means 30 s.
	Patience time.Duration

	// Poll is how long a [Follower] waits at most at the end of the log before it reads on. After a new log
	// object it waits 50 ms, and then each time twice as long. 0 means DefaultPoll. With a negative value
	// it reads only in Follow and CatchUp.
	Poll time.Duration

	// Retention is how long objects that the graph does not need any more stay in the storage. 0 means
	// 24 hours; a negative value means that they may be deleted at once. All servers of the graph have
	// the same retention.
	Retention time.Duration

	// Needed asks all servers what they need and returns the least number that Needs of one of their
	// graphs returned, without the zeros; 0 if there is none. Nil means that no other server uses the
	// graph.
	Needed func(context.Context) (uint64, error)

	closed func() // Closed of store.SharedOptions; nil for none
	reload uint64 // Reload of store.SharedOptions
	whole  int64  // Whole of store.SharedOptions
}

// CacheBound bounds the caches of several graphs together.
type CacheBound = store.CacheBound

// NewCacheBound returns a bound of `bytes`, or nil, which is no bound, if bytes is 0. Only files that
// are not mapped are removed from a cache, the least recently used first. So the caches may hold
// more while much is mapped.
func NewCacheBound(bytes int64) *CacheBound { return store.NewCacheBound(bytes) }

// DefaultPoll is one second.
const DefaultPoll = time.Second

// sharedCommitWeight bounds the commits between two checkpoints of a shared graph to 1024, because
// a server that opens the graph may have to read a log object for each of them.
const sharedCommitWeight = 8 << 10

// CreateShared makes a graph in shared storage and opens it as its writer; see [Create]. The error is
// a *engine.Conflict if there is a graph already.
func CreateShared(ctx context.Context, at SharedPlace, source string, declared *catalog.Schema, opts Options) (*Graph, error) {
	s, err := schema.New(source, catalog.Digest(declared), declared)
	if err != nil {
		return nil, &engine.SchemaMismatch{Detail: err.Error()}
	}
	g := newGraph(opts.shared())
	manifest := g.begin(s)
	st, err := store.OpenShared(ctx, at.options(g.opts, newGraphs{}))
	if err != nil {
		return nil, err
	}
	if !st.Exists() {
		err = st.TakeOver(ctx)
	}
	if err == nil && st.Exists() { // maybe another server made it since OpenShared
		err = &engine.Conflict{Reason: "the shared storage already holds a graph under this prefix"}
	}
	if err == nil {
		err = st.Checkpoint(ctx, manifest, 0, nil)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	g.attachStore(st)
	g.start()
	return g, nil
}

// newGraphs is the Applier of a new graph. It ignores a graph that the storage already contains.
type newGraphs struct{}

func (newGraphs) Load(context.Context, *store.Shared, *store.Recovered) error { return nil }
func (newGraphs) Apply(context.Context, store.Record) error                   { return nil }
func (newGraphs) Publish()                                                    {}

// OpenShared opens a graph in shared storage as its writer. From then on, the former writer cannot
// write any more. The error is a *engine.NotFound if no graph has the prefix.
func OpenShared(ctx context.Context, at SharedPlace, opts Options) (*Graph, error) {
	at.Poll = -1
	f, err := Follow(ctx, at, opts)
	if err != nil {
		return nil, err
	}
	g, err := f.TakeOver(ctx)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return g, nil
}

// CatchUp confirms that this server was still the writer of the graph when CatchUp was called. On a
// graph in a folder it does nothing. The error is a *engine.Unavailable. If another server has
// taken over, [Graph.MustReopen] reports true afterwards.
func (g *Graph) CatchUp(ctx context.Context) error {
	if s, ok := g.store.(*store.Shared); ok {
		return s.CatchUp(ctx)
	}
	return nil
}

// Settle waits until no commit is in flight, and then does what CatchUp does. A call that was refused because of
// the data may have been judged by a commit in flight. If that commit has failed, the error of Settle is a
// *engine.Unavailable.
func (g *Graph) Settle(ctx context.Context) error {
	if err := g.branches.waitLast(ctx); err != nil {
		return err
	}
	return g.CatchUp(ctx)
}

// Current returns the last time at which this server was known to be the writer of a graph in
// shared storage. A request of CatchUp or of the takeover showed this.
func (g *Graph) Current() time.Time {
	if s, ok := g.store.(*store.Shared); ok {
		return s.Current()
	}
	return time.Time{}
}

// CacheBytes returns the bytes of the copies of segments in the cache of a graph in shared storage.
func (g *Graph) CacheBytes() int64 {
	if s, ok := g.store.(*store.Shared); ok {
		return s.CacheBytes()
	}
	return 0
}

// CacheBytes returns the bytes of the copies of segments in the cache of the graph.
func (f *Follower) CacheBytes() int64 { return f.store.CacheBytes() }

// Epoch returns the epoch that began when this server became the writer of a graph in shared
// storage. It is 0 for a graph in a folder.
func (g *Graph) Epoch() uint64 {
	if s, ok := g.store.(*store.Shared); ok {
		return s.Epoch()
	}
	return 0
}

// shared returns the complete options of a graph in shared storage.
func (o Options) shared() Options {
	if o.commitWeight == 0 {
		o.commitWeight = sharedCommitWeight
	}
	return o.complete()
}

// options returns the options of the storage.
func (at *SharedPlace) options(opts Options, a store.Applier) store.SharedOptions {
	fsys := at.FS
	if fsys == nil {
		fsys = fs.OS()
	}
	return store.SharedOptions{
		Bucket: at.Bucket, Prefix: at.Prefix, FS: fsys, Cache: at.Cache, Bound: at.Bound,
		Node: at.Node, Incarnation: at.Incarnation, Address: at.Address,
		Patience: at.Patience, Retention: at.Retention, Needed: at.Needed, Reload: at.reload, Whole: at.whole, Applier: a, Failed: opts.LogFailed, Closed: at.closed,
	}
}

// applier builds the graph of a [Follower] from the log. Package store calls its methods one at a
// time.
type applier struct {
	opts    Options               // options of the graph
	next    *Graph                // the graph to which the next record is applied
	current atomic.Pointer[Graph] // the graph that readers see; often the same as next
}

// Load implements [store.Applier]. Reads of an earlier graph continue meanwhile.
func (a *applier) Load(ctx context.Context, st *store.Shared, found *store.Recovered) error {
	g := newGraph(a.opts)
	g.attachStore(st)
	g.files.hold = found.Hold
	var ids []store.SegmentID
	for _, name := range version.TableFiles(found.Manifest, catalog.Decode) {
		if id, err := segmentID(name); err == nil {
			ids = append(ids, id)
		}
	}
	st.FetchAll(ctx, ids)
	if err := g.recovery(ctx, found); err != nil {
		return err
	}
	g.checkpoints.lsn = found.ManifestLSN
	a.next = g
	return nil
}

// Apply implements [store.Applier]. Readers of the graph see the new commit at once.
func (a *applier) Apply(ctx context.Context, r store.Record) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	p := &replay{g: a.next, open: a.next.files.opener(ctx)}
	return p.apply(ctx, r)
}

// Publish implements [store.Applier].
func (a *applier) Publish() { a.current.Store(a.next) }

// Collected counts the objects that a garbage collection deleted.
type Collected = sharedlog.Collected

// Collect deletes the objects of a graph in shared storage that the graph has not needed for the
// retention of its SharedPlace. It deletes none that another server still needs, at least for a day
// after the retention. On a graph in a folder it does nothing. Close does not wait for Collect,
// because what may be deleted does not depend on the server's role.
func (g *Graph) Collect(ctx context.Context) (Collected, error) {
	if s, ok := g.store.(*store.Shared); ok {
		return s.Collect(ctx)
	}
	return Collected{}, nil
}

// Needs returns a number for the oldest checkpoint that this server needs, for Needed in the
// SharedPlace of other servers. It is 0 if there is none.
func (g *Graph) Needs() uint64 {
	if s, ok := g.store.(*store.Shared); ok {
		return s.Needs()
	}
	return 0
}

// Needs returns a number for the oldest checkpoint that this server needs; see Needs of [Graph].
func (f *Follower) Needs() uint64 { return f.store.Needs() }
