// Package logsample limits how often the server writes log lines that any client can cause.
package logsample

import (
	"sync"
	"time"
)

// Interval is a duration. During it, at most one line of each kind is written.
const Interval = time.Second

// maxKinds is the maximum number of kinds that are distinguished. All further kinds count as one.
const maxKinds = 256

// Sampler lets one line of each kind pass per [Interval]. The zero value is ready to use.
// Sampler is safe for concurrent use.
type Sampler struct {
	mu    sync.Mutex      // guards kinds
	kinds map[string]kind // state by kind of line
}

// kind is the state of one kind of lines.
type kind struct {
	last       time.Time // when the last line of the kind passed
	suppressed int       // lines held back since then
}

// Allow reports whether to write a line of the named kind now. If so, `held` is the number of lines
// of that kind that were suppressed since the last one that passed. If not, the line is suppressed,
// and the next line that passes counts it, however late that line comes.
func (l *Sampler) Allow(name string, now time.Time) (held int, ok bool) {
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
		k.suppressed++
		l.kinds[name] = k
		return 0, false
	}
	l.kinds[name] = kind{last: now}
	return k.suppressed, true
}
