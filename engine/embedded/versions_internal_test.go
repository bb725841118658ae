package embedded

import (
	"errors"
	"testing"
)

// TestVersionsInFlight replaces a record twice before the first replacement is durable. Readers see each version from the time when its own log
// record is durable, and the last durable one if a record fails.
func TestVersionsInFlight(t *testing.T) {
	var l versions[int]
	out := []*outcome{nil}
	for n := range 4 {
		v := versioned[int]{id: "a", last: new(n)}
		if n > 0 {
			out = append(out, &outcome{done: make(chan struct{})})
			v.out = out[n]
		}
		l.set(v)
	}
	for n, err := range []error{nil, nil, nil, errors.New("lost")} {
		want := n
		if n > 0 {
			out[n].err = err
			close(out[n].done)
		}
		if err != nil {
			want = n - 1
		}
		if got := l.seen("a"); got == nil || *got != want {
			t.Errorf("after the record of version %d readers see %v, want %d", n, got, want)
		}
	}
}
