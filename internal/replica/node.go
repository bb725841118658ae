// Package replica keeps the copies that one server has of the graphs in shared storage, and decides
// which of them the server writes.
//
// A [Storage] opens graphs; it implements engine.Engine. A [Graph] follows the log of a graph that
// another server writes, and can become the writer itself. A [Node] represents this process among
// the servers of a cluster: it renews the lease of this process, and observes the leases of other
// processes.
//
// Leases decide only which server tries to become the writer. The log alone ensures that no
// acknowledged write is lost, and that two servers never both write; see package sharedlog.
//
// # Objects of a cluster
//
//	node/<id>            signs of life of one server, a [Sign] in JSON; only a hint
//	move/<id>            a wish that the server becomes the writer of a graph, a [Wish] in JSON
//	incarnation/<graph>  a graph exists once this object exists; contains the <incarnation> in the prefix
//	graph/<graph>/<incarnation>/…  the objects of a graph; see packages sharedlog and store
//	page-token.key       the key that all servers use for page tokens
//	revision/<number>    the applied revisions; see package reconcile
package replica

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// Sign is the content of a node's object. The node overwrites the object every few seconds.
type Sign struct {
	Node        string               `json:"node"`        // id of the node
	Incarnation string               `json:"incarnation"` // differs each time the process is started
	Address     string               `json:"address"`     // where other servers reach the node; "" if they cannot
	Beat        uint64               `json:"beat"`        // grows with each sign, so that no two signs are equal
	Renewed     time.Time            `json:"renewed_at"`  // time of the sign by the node's clock; only for people
	Graphs      map[string]GraphSign `json:"graphs"`      // the open graphs of the node, and the Idle ones that it wrote last

	// Config is the digest of the configuration of a server, and Started is the time at which the
	// server was started, by its own clock. Both are absent from the sign of a command.
	Config  string    `json:"config_digest,omitempty"`
	Started time.Time `json:"started_at,omitzero"`

	// Revision is the number of the applied revision whose queries the server serves; 0 if it has none yet.
	Revision uint64 `json:"revision,omitempty"`

	// Stopping says that the server is about to stop, and that another one takes over soon.
	Stopping bool `json:"stopping,omitempty"`

	// DiffersFrom is the id of the server that [Node.Differs] returns; "" if there is none.
	DiffersFrom string `json:"differs_from,omitempty"`
}

// GraphSign is the state of one graph on a node.
type GraphSign struct {
	Role  Role   `json:"role"`  // whether the node writes the graph
	Epoch uint64 `json:"epoch"` // epoch of the writer, as far as the node knows

	// Needs is the number of the last log object that is covered by the oldest checkpoint that the node
	// needs; 0 if it needs none. The collector spares what this checkpoint needs, for a limited time.
	Needs uint64 `json:"needs,omitempty"`

	// Released is an epoch of the node which ended because the graph was unused; 0 without one. Any
	// server that has a write may take over from this epoch.
	Released uint64 `json:"released,omitempty"`

	// MovedFrom is the incarnation of the server from which an operator moved the graph to this node, which
	// writes it; "" if no operator did.
	MovedFrom string `json:"moved_from,omitempty"`
}

// Wish asks a node to become the writer of a graph.
type Wish struct {
	Graph string `json:"graph"` // id of the graph
	Epoch uint64 `json:"epoch"` // epoch of the writer to replace; void if another epoch has begun

	// Balance says that the writer itself has offered the graph, and no operator.
	Balance bool `json:"balance,omitempty"`
}

const (
	nodePrefix = "node/"
	movePrefix = "move/"

	// maxRenew is the longest time between two signs of a server.
	maxRenew = 3 * time.Second

	// commandRenew is the time between two signs of a command. It does not know the lease of the
	// servers, which can be as short as a second.
	commandRenew = 300 * time.Millisecond
)

// NodeOptions configure a Node. Bucket and ID are required.
type NodeOptions struct {
	Bucket  object.Bucket
	ID      string        // id of this server; differs from the ids of all other servers
	Address string        // address at which other servers reach this one; "" if they cannot
	Lease   time.Duration // how long a node counts as alive after its last sign; 0 means DefaultLease

	// Renew is the time between two signs of life. 0 means three seconds, or a third of Lease if that
	// is less.
	Renew time.Duration

	// Config is the digest of the configuration of this server; see [Node.Differs]. It is empty for a
	// command.
	Config string

	// Twin, if set, is called when another process uses the same id.
	Twin func()

	// Failed, if set, is called with the error of each sign that could not be stored.
	Failed func(error)
}

// DefaultLease is ten seconds.
const DefaultLease = 10 * time.Second

// Node represents this process among the servers of a cluster. It is safe for concurrent use.
type Node struct {
	opts        NodeOptions
	incarnation string
	started     time.Time // time of NewNode

	differs  atomic.Pointer[Sign] // see Differs; nil for none
	stopping atomic.Bool          // AnnounceStop was called
	revision atomic.Uint64        // see Sign.Revision

	// The goroutine of runCompare uses these two; Start uses them before it starts that goroutine.
	beats   map[string]beat // the signs of the other servers, by id
	offered *offer          // the offer that another node has not answered; nil if none

	leases    *sharedlog.Leases
	observing sync.Mutex      // held while `leases` observes a node; guards `observed`
	observed  map[string]look // maps the id of a node to what this node last observed of it

	mu     sync.Mutex
	graphs map[string]*Graph          // the graphs that this node serves, by id; some are Idle
	pins   map[string][]func() uint64 // by id of a graph: return what the Views of the graph need
	beat   uint64                     // number of signs so far
	put    bool                       // this process has stored a sign
	wish   *Wish                      // the wish that this node has read; nil if none

	starting sync.Mutex         // guards `stop` and `left`
	urgent   chan struct{}      // capacity 1; holds an element after the role of a graph changed
	stop     context.CancelFunc // ends the goroutines of `running`; nil if there are none
	left     bool               // Leave was called
	running  sync.WaitGroup     // the goroutines that renew the lease and compare the configurations
}

// NewNode returns the node of this process. Start begins its lease.
func NewNode(o NodeOptions) *Node {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Renew == 0 {
		o.Renew = min(maxRenew, o.Lease/3)
	}
	return &Node{
		opts: o, incarnation: strings.ToLower(rand.Text()), started: clock.Now().UTC(), observed: map[string]look{}, urgent: make(chan struct{}, 1),
		graphs: map[string]*Graph{}, pins: map[string][]func() uint64{}, beats: map[string]beat{},
		leases: sharedlog.NewLeases(o.Bucket, "", o.Lease, clock.Now),
	}
}

// CheckNodeID returns an error if an id of a node breaks the rules for names of objects.
func CheckNodeID(id string) error {
	if strings.Contains(id, "/") || len(id) > 100 || object.CheckName(nodePrefix+id) != nil {
		return fmt.Errorf("the name %q of the server is not allowed; use 1 to 100 letters a to z, digits, hyphens, underscores and dots", id)
	}
	return nil
}

// ID returns the id of the node.
func (n *Node) ID() string { return n.opts.ID }

// Start stores the first sign of life, and then renews it until Leave is called. Once a call has
// succeeded, further calls do nothing.
func (n *Node) Start(ctx context.Context) error {
	n.starting.Lock()
	defer n.starting.Unlock()
	switch {
	case n.left:
		return errClosed
	case n.stop != nil:
		return nil
	}
	err := n.renew(ctx)
	if err == nil {
		err = n.compare(ctx)
	}
	if err != nil {
		return fmt.Errorf("storing the first sign of this server in the shared storage: %w", err)
	}
	running, stop := context.WithCancel(context.Background())
	n.stop = stop
	n.running.Go(func() { n.run(running) })
	if n.opts.Config != "" {
		n.running.Go(func() { n.runCompare(running) })
	}
	return nil
}

// tick returns how long a server waits before it looks at the sign of a writer again.
func (n *Node) tick() time.Duration {
	return min(max(n.opts.Lease/10, 100*time.Millisecond), time.Second)
}

// run renews the lease and reads the wishes for this node until ctx ends.
func (n *Node) run(ctx context.Context) {
	ticker := time.NewTicker(min(n.tick(), n.opts.Renew))
	defer ticker.Stop()
	renewed := clock.Now()
	for {
		urgent := false
		select {
		case <-ctx.Done():
			return
		case <-n.urgent:
			urgent = true
		case <-ticker.C:
		}
		if now := clock.Now(); urgent || now.Sub(renewed) >= n.opts.Renew {
			renewed = now
			if err := n.renew(ctx); err != nil && ctx.Err() == nil && n.opts.Failed != nil {
				n.opts.Failed(err)
			}
		}
		n.readWish(ctx)
	}
}

// renew stores a sign of life.
func (n *Node) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.opts.Lease)
	defer cancel()
	n.mu.Lock()
	n.beat++
	s := Sign{Stopping: n.stopping.Load(), Node: n.opts.ID, Incarnation: n.incarnation, Address: n.opts.Address, Beat: n.beat, Renewed: clock.Now().UTC(), Graphs: map[string]GraphSign{}}
	if n.opts.Config != "" {
		s.Config, s.Started, s.Revision = n.opts.Config, n.started, n.revision.Load()
		if other, found := n.Differs(); found {
			s.DiffersFrom = other.Node
		}
	}
	graphs := make(map[string]*Graph, len(n.graphs))
	for id, g := range n.graphs {
		graphs[id] = g
	}
	pins := make(map[string][]func() uint64, len(n.pins))
	for id, p := range n.pins {
		pins[id] = slices.Clone(p)
	}
	put := n.put
	n.mu.Unlock()
	var idle []*Graph
	for id, g := range graphs {
		state := g.State()
		if state.Role == Idle {
			idle = append(idle, g)
			continue
		}
		s.Graphs[id] = GraphSign{Role: state.Role, Epoch: state.Epoch, Needs: g.needs(), Released: g.released(), MovedFrom: g.movedFrom()}
	}
	addReleased(&s, idle)
	for id, needs := range pins {
		sign, served := s.Graphs[id]
		if !served {
			sign.Role = Reader
		}
		for _, f := range needs {
			sign.Needs = older(sign.Needs, f())
		}
		s.Graphs[id] = sign
	}
	if put && n.opts.Twin != nil {
		if other, err := ReadSign(ctx, n.opts.Bucket, n.opts.ID); err == nil && other.Incarnation != n.incarnation {
			n.opts.Twin()
		}
	}
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := n.leases.Renew(ctx, n.opts.ID, content); err != nil {
		return err
	}
	n.mu.Lock()
	n.put = true
	n.mu.Unlock()
	return nil
}

// pin makes the signs of this node state what a View of a graph needs, until the node leaves.
func (n *Node) pin(graph string, needs func() uint64) {
	n.mu.Lock()
	n.pins[graph] = append(n.pins[graph], needs)
	n.mu.Unlock()
	n.tell()
}

// older returns the number of the older one of two checkpoints. 0 stands for no checkpoint.
func older(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// tell makes `run` store a sign soon, because the role of a graph has changed.
func (n *Node) tell() {
	select {
	case n.urgent <- struct{}{}:
	default:
	}
}

// Serve states the number of the applied revision whose queries this server serves.
func (n *Node) Serve(revision uint64) {
	if n.revision.Swap(revision) != revision {
		n.tell()
	}
}

// ReadSign reads the sign of a node. The error matches [object.ErrNotFound] if there is none.
func ReadSign(ctx context.Context, b object.Bucket, id string) (Sign, error) {
	content, err := b.Read(ctx, nodePrefix+id, 0, object.Whole)
	if err != nil {
		return Sign{}, err
	}
	var s Sign
	if err := json.Unmarshal(content, &s); err != nil {
		return Sign{}, fmt.Errorf("the object %s is not the sign of a server: %w; remove it", nodePrefix+id, err)
	}
	return s, nil
}

// Token stores the sign of this node, if it has none yet, and returns a text that names this process. A node of the same storage
// recognizes it; see [Node.Knows].
func (n *Node) Token(ctx context.Context) (string, error) {
	if err := n.Start(ctx); err != nil {
		return "", err
	}
	return n.opts.ID + " " + n.incarnation, nil
}

// Knows reports whether the sign of the process with a token is in the storage of this node. A copy of the storage has
// no signs of later processes, and gets none.
func (n *Node) Knows(ctx context.Context, token string) (bool, error) {
	id, incarnation, ok := strings.Cut(token, " ")
	if !ok || strings.Contains(id, "/") {
		return false, nil
	}
	s, err := ReadSign(ctx, n.opts.Bucket, id)
	if errors.Is(err, object.ErrNotFound) {
		return false, nil
	}
	return err == nil && s.Incarnation == incarnation, err
}

// look is what this node saw when it last looked at the sign of another node.
type look struct {
	at          time.Time
	incarnation string               // incarnation of the node; "" if the node has no sign
	expired     bool                 // the lease of the node has expired
	stopping    bool                 // the node is about to stop
	graphs      map[string]GraphSign // what the sign says about graphs
}

// gone reports whether the server that made a takeover no longer writes: it has removed its object,
// it was started again, or its lease has expired. Graphs with the same writer share one request.
func (n *Node) gone(ctx context.Context, t embedded.Takeover) (bool, error) {
	n.observing.Lock()
	defer n.observing.Unlock()
	seen, err := n.lookLocked(ctx, t.Node, n.tick()/2)
	return err == nil && seen.gone(t), err
}

// leaving is like gone, but is also true for a server that is about to stop. It looks at the sign at once.
func (n *Node) leaving(ctx context.Context, t embedded.Takeover) bool {
	n.observing.Lock()
	defer n.observing.Unlock()
	seen, err := n.lookLocked(ctx, t.Node, 0)
	return err == nil && (seen.gone(t) || seen.stopping)
}

// gone reports whether the server that made a takeover no longer writes.
func (l look) gone(t embedded.Takeover) bool {
	return l.expired || l.incarnation == "" || l.incarnation != t.Incarnation
}

// lookLocked returns what this node sees of another one, or saw within the time `since`. REQUIRES: n.observing is
// locked.
func (n *Node) lookLocked(ctx context.Context, node string, since time.Duration) (look, error) {
	now := clock.Now()
	seen, ok := n.observed[node]
	if !ok || now.Sub(seen.at) >= since {
		content, expired, err := n.leases.Look(ctx, node)
		if err != nil {
			return look{}, err
		}
		var s Sign
		_ = json.Unmarshal(content, &s) // an object that cannot be decoded counts as no sign
		seen = look{at: now, incarnation: s.Incarnation, expired: expired, stopping: s.Stopping, graphs: s.Graphs}
		n.observed[node] = seen
	}
	return seen, nil
}

// gaveUp reports whether the server that made a takeover has given the unused graph up,
// according to the sign that `gone` last read.
func (n *Node) gaveUp(t embedded.Takeover, graph string) bool {
	n.observing.Lock()
	defer n.observing.Unlock()
	return n.observed[t.Node].graphs[graph].Released == t.Epoch
}

// readWish reads the wish for this node. It opens the graph of the wish if the graph is Idle. It removes a wish
// that this node must not fulfil.
func (n *Node) readWish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.opts.Lease)
	defer cancel()
	content, err := n.opts.Bucket.Read(ctx, movePrefix+n.opts.ID, 0, object.Whole)
	var w *Wish
	if err == nil {
		w = &Wish{}
		var g *Graph
		if json.Unmarshal(content, w) == nil && n.mayTakeOver() == nil {
			g = n.served(w.Graph)
		}
		if g == nil {
			w = nil
			_ = n.opts.Bucket.Delete(ctx, movePrefix+n.opts.ID) // the wish cannot come true
		} else {
			defer g.wakeSoon() // once the wish is set
		}
	}
	n.mu.Lock()
	n.wish = w
	n.mu.Unlock()
}

// served returns a graph that this node serves, or nil.
func (n *Node) served(graph string) *Graph {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.graphs[graph]
}

// wished returns the wish for this node to write a graph, or nil.
func (n *Node) wished(graph string) *Wish {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wish == nil || n.wish.Graph != graph {
		return nil
	}
	return n.wish
}

// grant removes a wish that has been fulfilled or is void.
func (n *Node) grant(ctx context.Context, w *Wish) {
	ctx, cancel := context.WithTimeout(ctx, n.opts.Lease)
	defer cancel()
	if err := n.opts.Bucket.Delete(ctx, movePrefix+n.opts.ID); err != nil {
		return // the next call of step tries again
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wish == w {
		n.wish = nil
	}
}

// Move asks the node `id` to become the writer of a graph. The error matches [object.ErrExists] if
// the node has not yet answered an earlier wish.
func Move(ctx context.Context, b object.Bucket, id string, w Wish) error {
	content, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return object.Establish(ctx, b, movePrefix+id, content)
}

// Withdraw removes a wish that the node `id` has not answered.
func Withdraw(ctx context.Context, b object.Bucket, id string) error {
	return b.Delete(ctx, movePrefix+id)
}

// Signs returns the signs of all nodes, ordered by id. Some of the nodes may have ended.
func Signs(ctx context.Context, b object.Bucket) ([]Sign, error) {
	entries, err := object.ListAll(ctx, b, nodePrefix)
	if err != nil {
		return nil, err
	}
	var signs []Sign
	for _, e := range entries {
		s, err := ReadSign(ctx, b, strings.TrimPrefix(e.Name, nodePrefix))
		if errors.Is(err, object.ErrNotFound) {
			continue // the node has ended just now
		}
		if err != nil {
			return nil, err
		}
		signs = append(signs, s)
	}
	return signs, nil
}

// add records a graph that this node serves. It returns an error if the node serves the graph already.
func (n *Node) add(g *Graph) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.graphs[g.id] != nil {
		return fmt.Errorf("this process has the graph %s open already", g.id)
	}
	n.graphs[g.id] = g
	return nil
}

// remove forgets a graph that is closed.
func (n *Node) remove(g *Graph) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.graphs[g.id] == g {
		delete(n.graphs, g.id)
	}
}

// AnnounceStop stores a sign that says that this server is about to stop. Other servers then let writes wait for
// the next writer instead of refusing them.
func (n *Node) AnnounceStop(ctx context.Context) {
	n.stopping.Store(true)
	n.tell() // in case a sign without it is in flight
	_ = n.renew(ctx)
}

// Leave removes the object of this node, so that other servers take over its graphs at once. Call
// Leave before you close the graphs.
func (n *Node) Leave(ctx context.Context) error {
	n.starting.Lock()
	defer n.starting.Unlock()
	if n.left = true; n.stop == nil {
		return nil
	}
	n.stop()
	n.running.Wait()
	ctx, cancel := context.WithTimeout(ctx, n.opts.Lease)
	defer cancel()
	return n.leases.Remove(ctx, n.opts.ID)
}
