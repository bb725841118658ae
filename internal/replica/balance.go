package replica

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Servers spread the writers of graphs over themselves. A server that writes at least two graphs more than
// another one offers it a graph, with a [Wish] like that of an operator. One graph at a time moves, and each
// move makes the numbers more equal, so the moves end. A server that was started first and writes all graphs
// gives them away in this way when the others are ready.
//
// An operator has the last word: a graph that an operator moved stays where it is, and the server from which an
// operator moved a graph is offered none, because it may be about to stop. Both end with the next takeover of
// the graph.
//
// Like a lease, all this only decides which server tries to become the writer.

// offer is a graph that this node has offered to another one.
type offer struct {
	node    string // id of the other node
	content []byte // of the object with the wish
	at      time.Time
}

// peer is another server that is alive, according to its sign.
type peer struct {
	Sign
	writes int // number of graphs that it writes
}

// beat is a sign of another server.
type beat struct {
	incarnation string
	number      uint64
	changed     bool // a later sign of the same process was seen
}

// alive notes the sign of another server, and reports whether this node has seen the server store two signs.
// Before that, the sign may be what a server left that was killed.
func (n *Node) alive(id string, s Sign) bool {
	last, ok := n.beats[id]
	if !ok || last.incarnation != s.Incarnation {
		last = beat{incarnation: s.Incarnation, number: s.Beat}
	}
	last.changed = last.changed || s.Beat != last.number
	n.beats[id] = last
	return last.changed
}

// balance offers a graph to another server if that makes the numbers of written graphs more equal. `others`
// are the signs of the other servers with the same configuration whose leases have not expired. Only one
// goroutine calls it.
func (n *Node) balance(ctx context.Context, others []Sign) {
	n.withdraw(ctx)
	if n.offered != nil || n.opts.Address == "" {
		return // without addresses, servers cannot forward writes, so clients have to know the writer
	}
	written := n.written(others)
	spared := map[string]bool{} // incarnations of servers from which an operator moved a graph
	for _, g := range written {
		spared[g.movedFrom()] = true
	}
	var peers []peer
	for _, s := range others {
		p := peer{Sign: s}
		for _, g := range s.Graphs {
			if g.Role == Writer {
				p.writes++
				spared[g.MovedFrom] = true
			}
		}
		if n.alive(s.Node, s) && s.Address != "" {
			peers = append(peers, p)
		}
	}
	peers = slices.DeleteFunc(peers, func(p peer) bool { return spared[p.Incarnation] || p.writes+2 > len(written) })
	slices.SortFunc(peers, func(a, b peer) int { return cmp.Or(cmp.Compare(a.writes, b.writes), cmp.Compare(a.Node, b.Node)) })
	for _, p := range peers {
		for _, g := range written {
			epoch, free := g.movable()
			there, known := p.Graphs[g.id]
			if !free || known && there.Role != Idle && (there.Role != Reader || there.Epoch != epoch) {
				continue // in use, or the other server cannot open the graph, or does not know this writer yet
			}
			n.give(ctx, p.Node, Wish{Graph: g.id, Epoch: epoch, Balance: true})
			return
		}
	}
}

// written returns the graphs that this node writes, by id. This node may not know yet that another one has
// taken over a graph; then the sign of the other one shows it.
func (n *Node) written(others []Sign) (written []*Graph) {
	n.mu.Lock()
	for _, g := range n.graphs {
		if epoch, _ := g.movable(); epoch != 0 && !slices.ContainsFunc(others, func(s Sign) bool {
			return s.Graphs[g.id].Role == Writer && s.Graphs[g.id].Epoch > epoch
		}) {
			written = append(written, g)
		}
	}
	n.mu.Unlock()
	slices.SortFunc(written, func(a, b *Graph) int { return cmp.Compare(a.id, b.id) })
	return written
}

// give offers a graph to another node, unless that node has another wish to answer.
func (n *Node) give(ctx context.Context, to string, w Wish) {
	content, err := json.Marshal(w)
	if err != nil {
		return
	}
	if err := object.Establish(ctx, n.opts.Bucket, movePrefix+to, content); err == nil {
		n.offered = &offer{node: to, content: content, at: clock.Now()}
	}
}

// withdraw ends the offer of this node when the other node has answered it, or has not answered it for the time
// of a lease.
func (n *Node) withdraw(ctx context.Context) {
	o := n.offered
	if o == nil {
		return
	}
	content, err := n.opts.Bucket.Read(ctx, movePrefix+o.node, 0, object.Whole)
	switch {
	case errors.Is(err, object.ErrNotFound), err == nil && !bytes.Equal(content, o.content):
		n.offered = nil
	case err == nil && clock.Now().Sub(o.at) >= n.opts.Lease:
		if n.opts.Bucket.Delete(ctx, movePrefix+o.node) == nil {
			n.offered = nil
		}
	}
}

// moved is a takeover that an operator asked for.
type moved struct {
	epoch uint64 // that began with it
	from  string // incarnation of the former writer
}

// movedFrom returns the incarnation of the server from which an operator moved the graph to this server, or ""
// if another server has become the writer since, or this server became it by itself.
func (g *Graph) movedFrom() string {
	m, now := g.moved.Load(), g.current.Load()
	if m == nil || now.written == nil || now.written.Epoch() != m.epoch {
		return ""
	}
	return m.from
}

// movable returns the epoch of this server, or 0 if it does not write the graph, and whether another server may become the writer of the graph now:
// no operator chose this server, and no call runs that the move would break or that would delay it.
func (g *Graph) movable() (epoch uint64, free bool) {
	now := g.current.Load()
	if now.written == nil {
		return 0, false
	}
	return now.written.Epoch(), g.movedFrom() == "" && g.busy.Load() == 0
}
