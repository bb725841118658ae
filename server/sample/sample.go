// Package sample keeps lines of log that anybody can cause from filling it.
package sample

import (
	"sync"
	"time"
)

// Interval is the time in which one line of a kind is written.
const Interval = time.Second

// maxKinds bounds what is kept. The kinds past it are taken for one.
const maxKinds = 256

// Lines lets one line of each kind pass in an [Interval]. The zero value is ready, and
// safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	kinds map[string]kind
}

type kind struct {
	last time.Time // when a line passed
	held int       // that did not pass since
}

// Pass reports whether a line of a kind is to be written now, and how many of its kind
// were held back since the last one that was. Those that are held back last are told of
// by the next line, whenever that is.
func (l *Lines) Pass(name string, now time.Time) (held int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds == nil {
		l.kinds = map[string]kind{}
	}
	k, known := l.kinds[name]
	if !known && len(l.kinds) >= maxKinds {
		name = ""
		k, known = l.kinds[name]
	}
	if known && now.Sub(k.last) < Interval {
		k.held++
		l.kinds[name] = k
		return 0, false
	}
	l.kinds[name] = kind{last: now}
	return k.held, true
}
