package tableimport

import (
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
)

// The number of tables that are read at a time, of one owner and of all, for each of the two purposes. Each takes memory.
const maxOwn, maxAll = 2, 8

// places counts the tables that are read. It is safe for concurrent use. The zero value has none.
type places struct {
	mu   sync.Mutex
	used map[string]int // by owner; guarded by mu
	all  int            // guarded by mu
}

// inferring and importing are the places of [Propose], and of imports from [New] to Close.
var inferring, importing places

// take takes a place, which the caller returns with the function. The error is an *engine.Busy.
func (p *places) take(owner string) (back func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.used[owner] >= maxOwn:
		return nil, &engine.Busy{Resource: "tables of one actor that are read at a time", Limit: maxOwn}
	case p.all >= maxAll:
		return nil, &engine.Busy{Resource: "tables that are read at a time", Limit: maxAll}
	}
	if p.used == nil {
		p.used = map[string]int{}
	}
	p.used[owner]++
	p.all++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all--
		if p.used[owner]--; p.used[owner] == 0 {
			delete(p.used, owner)
		}
	}), nil
}
